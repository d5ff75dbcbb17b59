import { DUE_FIELDS, type RecordsQuery } from '@parley/core';
import { expect, onTestFinished, test } from 'vitest';

import { listRecords } from './list-records.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import type { DatabaseSync } from './sqlite.ts';

const kinds = Object.keys(DUE_FIELDS) as (keyof typeof DUE_FIELDS)[];

test.each(kinds)(
  '[R10] what is due of a %s is found by its moment: what is not due is not looked at',
  (kind) => {
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
    const query: RecordsQuery = {
      kind,
      workspace_id: undefined,
      marks: ['done'],
      due_by: '2030',
      limit: 500,
    };
    listRecords(explaining, query);
    expect(plan).toEqual([
      expect.stringContaining(`SEARCH records USING INDEX ${kind}_by_moment (mark=? AND <expr><?)`),
    ]);
  },
);
