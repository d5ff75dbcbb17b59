import { type PostgresServer, startPostgres } from './start-postgres.ts';

let server: PostgresServer | undefined;

/** Starts one PostgreSQL for all files of a run on its profile, and says where; nothing on the embedded profile. */
export async function setup(): Promise<void> {
  if (process.env['PARLEY_TEST_STORE'] !== 'postgres') return;
  // No test of this run pulls its plug: those that do start one of their own.
  server = await startPostgres({ max_connections: '400', fsync: 'off' });
  process.env['PARLEY_TEST_STORE_URL'] = server.url;
}

/** Ends it. */
export async function teardown(): Promise<void> {
  await server?.close();
}
