import { sql as log } from './0001-log.ts';
import { sql as words } from './0002-words.ts';

/** Every migration in order; the schema version is how many have run. Forward only. */
export const MIGRATIONS: readonly string[] = [log, words];
