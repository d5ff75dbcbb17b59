import { ParleyError } from '@parley/protocol';

import { contactFault, firstContact } from './first-contact.ts';
import { MIGRATIONS } from './schema.ts';
import { EVERY_WORKSPACE, settingOf } from './scope.ts';
import { sql, Sql } from './sql.ts';

/** Any number that no other program locks. */
const LOCK = 7_266_411_902;

/** Brings the schema up to date under a lock, so that nodes which start at once do it once; refuses a newer one. */
export async function migrate(url: string, schema: string): Promise<void> {
  const { ask, close } = await firstContact(url, schema);
  try {
    await ask(sql`BEGIN`);
    await ask(sql`SELECT pg_advisory_xact_lock(${LOCK})`);
    await ask(settingOf(EVERY_WORKSPACE, 'transaction'));
    const [state] = await ask<{ replica: boolean }>(sql`
      SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS replica`);
    if (state?.replica === true)
      throw new ParleyError(
        'VALIDATION_ERROR',
        'this PostgreSQL takes no writes: it is a replica or read-only; give the address of the primary',
      );
    await ask(plain(`CREATE SCHEMA IF NOT EXISTS "${schema}"`));
    await ask(sql`CREATE TABLE IF NOT EXISTS parley_schema (version integer NOT NULL)`);
    const [found] = await ask<{ version: number }>(sql`SELECT version FROM parley_schema`);
    const version = found?.version ?? 0;
    if (version > MIGRATIONS.length)
      throw new ParleyError(
        'UNAVAILABLE',
        `the database is of a newer Parley (schema ${version}, this one knows ${MIGRATIONS.length}); update this node`,
      );
    for (const step of MIGRATIONS.slice(version))
      for (const statement of step.split(/;\n(?=\n|CREATE)/))
        if (statement.trim() !== '') await ask(plain(statement));
    await ask(sql`DELETE FROM parley_schema`);
    await ask(sql`INSERT INTO parley_schema VALUES (${MIGRATIONS.length})`);
    await ask(sql`COMMIT`);
  } catch (error) {
    throw contactFault(error, url);
  } finally {
    await close();
  }
}

/** SQL that is the program's own, without values. */
function plain(text: string): Sql {
  return new Sql([text], []);
}
