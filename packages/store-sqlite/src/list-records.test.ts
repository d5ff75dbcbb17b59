import { DUE_FIELDS, type RecordsQuery } from '@parley/core';
import { expect, onTestFinished, test } from 'vitest';

import { listRecords } from './list-records.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import type { DatabaseSync } from './sqlite.ts';

const kinds = Object.keys(DUE_FIELDS) as (keyof typeof DUE_FIELDS)[];

/** How the database finds what a query names. */
function planOf(query: RecordsQuery): string[] {
  const folder = sampleFolder();
  const db = openSample(folder);
  onTestFinished(() => {
    db.close();
    removeFolder(folder);
  });
  const plan: string[] = [];
  /** The same database, that tells how it will find what it is asked for. */
  const explaining = {
    prepare: (sql: string) => ({
      all: (parameters: Record<string, string | number>) => {
        const steps = db.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(parameters);
        plan.push(...steps.map(({ detail }) => detail));
        return [];
      },
    }),
  } as unknown as DatabaseSync;
  listRecords(explaining, query);
  return plan;
}

test.each(kinds)(
  '[R10] what is due of a %s is found by its moment: what is not due is not looked at',
  (kind) => {
    const all = { kind, workspace_id: undefined, limit: 500 };
    expect(planOf({ ...all, marks: ['done'], due_by: '2030' })).toEqual([
      expect.stringContaining(`SEARCH records USING INDEX ${kind}_by_moment (mark=? AND <expr><?)`),
    ]);
  },
);

test('[R10] the deliveries and requests of one agent are found by it: those of others are not looked at', () => {
  const own = { workspace_id: 'w', owner: 'bob', descending: true, limit: 51 } as const;
  for (const [kind, index] of [
    ['delivery', 'deliveries_by_owner'],
    ['ask', 'asks_by_owner'],
  ] as const) {
    expect(planOf({ ...own, kind })).toEqual([
      `SEARCH records USING INDEX ${index} (workspace_id=? AND owner=?)`,
    ]);
    expect(planOf({ ...own, kind, past: 'k' })).toEqual([
      `SEARCH records USING INDEX ${index} (workspace_id=? AND owner=? AND key<?)`,
    ]);
    expect(planOf({ ...own, kind, marks: ['dead'] })).toEqual([
      `SEARCH records USING INDEX ${index}_and_mark (workspace_id=? AND owner=? AND mark=?)`,
    ]);
  }
});
