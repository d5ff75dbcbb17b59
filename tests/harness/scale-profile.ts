import { migrate } from '../../packages/store-postgres/src/migrate.ts';
import { endFile } from './at-file-end.ts';
import { type NatsServer, startNats } from './start-nats.ts';
import { type PostgresServer, startPostgres } from './start-postgres.ts';
import { TEMPLATE } from './store-profile.ts';

let server: PostgresServer | undefined;
let nats: NatsServer | undefined;

/** Starts one PostgreSQL and one NATS for all files of a run on several nodes, and says where; else nothing. */
export async function setup(): Promise<void> {
  if (process.env['PARLEY_TEST_STORE'] !== 'postgres') return;
  // No test of this run pulls their plug: those that do start their own.
  server = await startPostgres({ max_connections: '600', fsync: 'off' });
  process.env['PARLEY_TEST_STORE_URL'] = server.url;
  // Every hub begins on a copy of it: that an empty database is brought up to date is for `npm test` to show.
  await server.query(`CREATE DATABASE ${TEMPLATE} TEMPLATE template0`);
  await migrate(server.url.replace(/postgres$/, TEMPLATE), 'parley');
  nats = await startNats();
  process.env['PARLEY_TEST_NATS_URL'] = nats.url;
}

/** Ends both. */
export async function teardown(): Promise<void> {
  await nats?.kill();
  await server?.close();
  await endFile();
}
