import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Committed } from '@parley/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { Batches } from './batches.ts';
import { checkRuns } from './count-runs.ts';
import { openReader } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { Reader } from './reader.ts';
import { SampleCommands } from './sample-commands.ts';
import { openSample, sampleFolder } from './sample-record.ts';

const WORKSPACES = ['north', 'south', 'w'];
const Step = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.nat(WORKSPACES.length - 1), { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant('reopen' as const) },
);

test('[R2] [R4] [R6] [R12] however workspaces write side by side, each counts 1…n, and a reader that comes back anywhere misses nothing', () => {
  fc.assert(
    fc.property(fc.array(Step, { maxLength: 14 }), fc.integer({ min: 1, max: 4 }), (steps, limit) => {
      const folder = sampleFolder();
      let batches = new Batches(openSample(folder));
      const sample = new SampleCommands();
      const bodies = WORKSPACES.map((): string[] => []);
      const heads = (): number[] => bodies.map(({ length }) => length);
      try {
        batches.run(WORKSPACES.map((name, n) => sample.create(n, ['alice'], undefined, name)));
        for (const [n, said] of bodies.entries()) said.push(`thread ${n}`);
        for (const [i, step] of steps.entries()) {
          if (step === 'reopen') {
            batches.close();
            batches = new Batches(openSample(folder));
            continue;
          }
          const said = step.map((n, j) => ({ n, body: `${i} ${j}` }));
          const commands = said.map(({ n, body }) =>
            sample.post('alice', n, body, { workspace: WORKSPACES[n] as string }),
          );
          // One that is refused in their midst is counted nowhere.
          const refused = sample.post('alice', 99, 'no such thread', { workspace: 'north' });
          const replies = batches.run([...commands, refused]);
          for (const [j, { n, body }] of said.entries()) {
            const length = bodies[n]?.push(body);
            expect((replies[j]?.ok as Committed | undefined)?.reached?.[0]?.pos).toBe(length);
          }
        }
        const db = openReader(join(folder, DATABASE_FILE));
        const reader = new Reader(db);
        expect(reader.heads({ past: '', limit: 9 }).map(({ pos }) => pos)).toEqual(heads());
        expect(checkRuns(db, true)).toBeUndefined();
        for (const [n, workspace_id] of WORKSPACES.entries()) {
          const query = { workspace_id, participant: undefined, limit, max_bytes: 1e9 };
          for (let start = 0; start <= heads()[n]!; start++) {
            const seen: [number, string][] = [];
            for (let after = start, more = true; more;) {
              const page = reader.workspace({ ...query, after });
              seen.push(...page.rows.map(({ pos, entry }): [number, string] => [pos, entry.body]));
              ({ next: after, has_more: more } = page);
            }
            const wanted = bodies[n]!.map((body, j): [number, string] => [j + 1, body]).slice(start);
            expect(seen).toEqual(wanted);
          }
        }
        db.close();
      } finally {
        batches.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 60 },
  );
}, 240_000);
