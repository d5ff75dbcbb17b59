export { countHubs } from './count-hubs.ts';
export { postgresPlace } from './postgres-place.ts';
export { openPostgresTarget } from './record-target.ts';
export { openPostgresFiles } from './state-files.ts';
export { openPostgres, type PostgresOptions } from './open-store.ts';
