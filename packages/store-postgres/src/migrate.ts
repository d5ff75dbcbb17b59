import { ParleyError } from '@parley/protocol';

import { contactFault, firstContact } from './first-contact.ts';
import { MIGRATIONS, OLDEST_SERVED } from './schema.ts';
import { EVERY_WORKSPACE, settingOf } from './scope.ts';
import { refuseNewer, schemaState, type SchemaState } from './served.ts';
import { type Ask, sql, Sql } from './sql.ts';

/** Any number that no other program locks. */
const LOCK = 7_266_411_902;
/** While a change waits for a table, so does everybody else who wants it. */
const TABLE_LOCK_MS = 5_000;
/** Every node looks once a second whether it is still served. */
const FAREWELL_MS = 3_000;

/**
 * Brings the schema up to date under a lock, so that nodes which start at once do it once; refuses one that this program
 * is too old for. Nodes that cannot live with what comes are told first, and given time to leave.
 */
export async function migrate(url: string, schema: string): Promise<void> {
  const { ask, close } = await firstContact(url, schema, { patient: true });
  try {
    const before = await begin(ask, schema);
    if (before.version > 0 && before.version < OLDEST_SERVED) {
      await ask(sql`UPDATE parley_schema SET oldest = ${OLDEST_SERVED}`);
      await ask(sql`COMMIT`);
      await new Promise((resolve) => setTimeout(resolve, FAREWELL_MS));
      await begin(ask, schema);
    }
    const [found = NONE] = await ask<SchemaState>(schemaState);
    await change(ask, found);
    await ask(sql`COMMIT`);
  } catch (error) {
    throw contactFault(error, url);
  } finally {
    await close();
  }
}

const NONE: SchemaState = { version: 0, oldest: null };

/** Begins a transaction that has the lock, and says what stands. */
async function begin(ask: Ask, schema: string): Promise<SchemaState> {
  await ask(sql`BEGIN`);
  // Another node may be at it for minutes; whoever holds a table up is not waited for that long.
  await ask(sql`SELECT set_config('lock_timeout', '0', true)`);
  await ask(sql`SELECT pg_advisory_xact_lock(${LOCK})`);
  await ask(sql`SELECT set_config('lock_timeout', ${String(TABLE_LOCK_MS)}, true)`);
  await ask(settingOf(EVERY_WORKSPACE, 'transaction'));
  const [state] = await ask<{ replica: boolean }>(sql`
    SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS replica`);
  if (state?.replica === true)
    throw new ParleyError(
      'VALIDATION_ERROR',
      'this PostgreSQL takes no writes: it is a replica or read-only; give the address of the primary',
    );
  await ask(plain(`CREATE SCHEMA IF NOT EXISTS "${schema}"`));
  await ask(sql`CREATE TABLE IF NOT EXISTS parley_schema (version integer NOT NULL, oldest integer)`);
  const [column] = await ask(sql`
    SELECT 1 FROM pg_attribute WHERE attrelid = 'parley_schema'::regclass AND attname = 'oldest'`);
  // Not on every start: nodes that run look into it.
  if (column === undefined) await ask(sql`ALTER TABLE parley_schema ADD COLUMN oldest integer`);
  const [found = NONE] = await ask<SchemaState>(schemaState);
  refuseNewer(found);
  return found;
}

async function change(ask: Ask, { version, oldest }: SchemaState): Promise<void> {
  // A newer node has been here; this one may go on beside it, and takes nothing back.
  if (version > MIGRATIONS.length || (version === MIGRATIONS.length && oldest !== null)) return;
  for (const step of MIGRATIONS.slice(version))
    for (const statement of step.split(/;\n(?=\n|CREATE)/))
      if (statement.trim() !== '') await ask(plain(statement));
  await ask(sql`DELETE FROM parley_schema`);
  await ask(sql`INSERT INTO parley_schema VALUES (${MIGRATIONS.length}, ${OLDEST_SERVED})`);
}

/** SQL that is the program's own, without values. */
function plain(text: string): Sql {
  return new Sql([text], []);
}
