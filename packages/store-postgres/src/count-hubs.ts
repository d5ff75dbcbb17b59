import { firstContact } from './first-contact.ts';
import type { PostgresPlace } from './snapshot.ts';
import { sql } from './sql.ts';

/** How many connections of hubs, or of commands, a database has beside this one. */
export async function countHubs({ url, schema = 'parley' }: PostgresPlace): Promise<number> {
  const { ask, close } = await firstContact(url, schema);
  try {
    const [row] = await ask<{ count: number }>(sql`
      SELECT count(*) AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'parley' AND pid <> pg_backend_pid()`);
    return row?.count ?? 0;
  } finally {
    await close();
  }
}
