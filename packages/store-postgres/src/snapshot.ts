import { ParleyError } from '@parley/protocol';

import { firstContact } from './first-contact.ts';
import { MIGRATIONS } from './schema.ts';
import { EVERY_WORKSPACE, settingOf } from './scope.ts';
import { type Ask, sql, type Sql } from './sql.ts';

/** Where a record in PostgreSQL is. */
export interface PostgresPlace {
  url: string;
  schema?: string;
}

/** The whole database as it is at one moment, while others go on writing. */
export interface Snapshot {
  ask: Ask;
  schemaVersion: number;
  close: () => Promise<void>;
}

const PAGE = 500;

/** Opens a moment of a record; a database that holds none, or that of another Parley, is refused. */
export async function openSnapshot({ url, schema = 'parley' }: PostgresPlace): Promise<Snapshot> {
  const { ask, close } = await firstContact(url, schema, { patient: true });
  try {
    await ask(sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`);
    const [there] = await ask<{ there: boolean }>(
      sql`SELECT to_regclass('parley_schema') IS NOT NULL AS there`,
    );
    if (there?.there !== true) throw new ParleyError('NOT_FOUND', 'there is no record in this database');
    const [{ version: schemaVersion } = { version: 0 }] = await ask<{ version: number }>(
      sql`SELECT version FROM parley_schema`,
    );
    if (schemaVersion !== MIGRATIONS.length)
      throw new ParleyError(
        'UNAVAILABLE',
        `the database has schema ${schemaVersion}, this Parley ${MIGRATIONS.length}: ${schemaVersion > MIGRATIONS.length ? 'update this one' : 'start a hub on it once'}`,
      );
    await ask(settingOf(EVERY_WORKSPACE, 'transaction'));
    return { ask, schemaVersion, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** All rows of a question, page after page, each beginning after the last row of the one before. */
export async function* inPages<T>(
  ask: Ask,
  question: (after: T | undefined, limit: number) => Sql,
): AsyncGenerator<T[]> {
  let after: T | undefined;
  for (;;) {
    const rows: T[] = await ask<T>(question(after, PAGE));
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1);
  }
}
