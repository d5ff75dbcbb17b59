import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { DATABASE_FILE } from '@parley/store-sqlite';
import { Client } from 'pg';

/** The server that a run on the PostgreSQL profile has started for all its files; empty on the embedded one. */
const SERVER =
  process.env['PARLEY_TEST_STORE'] === 'postgres' ? (process.env['PARLEY_TEST_STORE_URL'] ?? '') : '';

/** The NATS beside it, which carries the news between the nodes of every hub. */
export const NATS = SERVER === '' ? '' : (process.env['PARLEY_TEST_NATS_URL'] ?? '');

/** The database that each of a hub begins as a copy of. */
export const TEMPLATE = 'begun';

/** True where hubs keep their record in PostgreSQL. */
export const onPostgres = SERVER !== '';

const NODE_FOLDER = /\.node-\d$/;

/** The folder of a further node of the hub in a data folder: the same database is behind it. */
export function folderOfNode(data: string, node: number): string {
  return node === 1 ? data : `${data}.node-${node}`;
}

const made = new Map<string, Promise<string>>();

/** On the PostgreSQL profile every data folder has a database of its own, and says so; else it holds its record itself. */
export async function prepareStore(data: string): Promise<void> {
  // Where a program has begun a record of its own in the folder, that is the record.
  if (!onPostgres || existsSync(join(data, DATABASE_FILE))) return;
  const first = data.replace(NODE_FOLDER, '');
  const name = `t${createHash('sha256').update(first).digest('hex').slice(0, 24)}`;
  let url = made.get(first);
  if (url === undefined) made.set(first, (url = createDatabase(name)));
  const store = await url;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(join(data, 'store.json'), `${JSON.stringify({ store })}\n`, { mode: 0o600 });
}

async function createDatabase(name: string): Promise<string> {
  const client = new Client({ connectionString: SERVER });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
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
