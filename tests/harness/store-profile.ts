import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from 'pg';

/** The server that a run on the PostgreSQL profile has started for all its files; empty on the embedded one. */
const SERVER =
  process.env['PARLEY_TEST_STORE'] === 'postgres' ? (process.env['PARLEY_TEST_STORE_URL'] ?? '') : '';

/** True where hubs keep their record in PostgreSQL. */
export const onPostgres = SERVER !== '';

const made = new Map<string, Promise<string>>();

/** On the PostgreSQL profile every data folder has a database of its own, and says so; else it holds its record itself. */
export async function prepareStore(data: string): Promise<void> {
  if (!onPostgres) return;
  const name = `t${createHash('sha256').update(data).digest('hex').slice(0, 24)}`;
  let url = made.get(data);
  if (url === undefined) made.set(data, (url = createDatabase(name)));
  const store = await url;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(join(data, 'store.json'), `${JSON.stringify({ store })}\n`, { mode: 0o600 });
}

async function createDatabase(name: string): Promise<string> {
  const client = new Client({ connectionString: SERVER });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  } catch (error) {
    // Another process of the same test made it.
    if ((error as { code?: string }).code !== '42P04') throw error;
  } finally {
    await client.end();
  }
  const url = new URL(SERVER);
  url.pathname = `/${name}`;
  return url.href;
}
