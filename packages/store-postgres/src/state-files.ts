import { type StateFile, type StateFiles, type StateFileName, STATE_FILES } from '@parley/core';
import { ParleyError } from '@parley/protocol';
import { damaged, rowSum } from '@parley/store-rows';

import { migrate } from './migrate.ts';
import { openPool, type ReadPool, sql } from './sql.ts';

interface Row {
  name: StateFileName;
  revision: number;
  text: string;
  sum: string;
}

/** How often a change is made anew because another was faster. */
const TRIES = 50;
const NONE: StateFile = { revision: '0', text: undefined };

/** The state files in PostgreSQL: each with a revision, which whoever changes it must have seen. */
export async function openStateFiles({ ask, say, close }: ReadPool): Promise<StateFiles> {
  const known = new Map<StateFileName, StateFile>();

  /** Reads what has another revision than the one known: one question, and mostly no rows. */
  async function read(): Promise<void> {
    const revisions = STATE_FILES.map((name) => Number((known.get(name) ?? NONE).revision));
    const rows = await ask<Row>(sql`
      SELECT f.name, f.revision, f.text, f.sum FROM kept_files f
      JOIN unnest(${[...STATE_FILES]}::text[], ${revisions}::bigint[]) AS u (name, revision) ON f.name = u.name
      WHERE f.revision > u.revision`);
    for (const { name, revision, text, sum } of rows) {
      if (rowSum(name, revision, text) !== sum) throw damaged(`the state file ${name}`);
      if (revision > Number((known.get(name) ?? NONE).revision))
        known.set(name, { revision: String(revision), text });
    }
  }

  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  /** What is under way may have begun too early: whoever comes meanwhile shares the one after it. */
  function fresh(): Promise<void> {
    if (next !== undefined) return next;
    const before = running ?? Promise.resolve();
    const mine = before
      .catch(() => {})
      .then(() => {
        next = undefined;
        running = mine;
        return read();
      })
      .finally(() => {
        if (running === mine) running = undefined;
      });
    return (next = mine);
  }

  await read();
  return {
    shared: true,
    look: (name) => known.get(name) ?? NONE,
    fresh,
    async change(name, make) {
      for (let tries = 0; tries < TRIES; tries++) {
        await fresh();
        const { revision, text } = known.get(name) ?? NONE;
        const other = await make(text);
        if (other === undefined || other === text) return;
        const to = Number(revision) + 1;
        const rows = await say(sql`
          INSERT INTO kept_files AS f (name, revision, text, sum) VALUES (${name}, ${to}, ${other}, ${rowSum(name, to, other)})
          ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, text = excluded.text, sum = excluded.sum
          WHERE f.revision = ${to - 1} RETURNING f.name`);
        if (rows.length === 0) continue;
        await fresh();
        return;
      }
      throw new ParleyError('UNAVAILABLE', `${name} is being changed by others all the time; retry`);
    },
    close,
  };
}

/** Opens the state files alone, as a command does. */
export async function openPostgresFiles({
  url,
  schema = 'parley',
}: {
  url: string;
  schema?: string;
}): Promise<StateFiles> {
  await migrate(url, schema);
  const pool = openPool(url, schema, 1);
  try {
    return await openStateFiles(pool);
  } catch (error) {
    await pool.close();
    throw error;
  }
}
