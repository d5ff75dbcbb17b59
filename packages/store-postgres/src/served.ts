import { ParleyError } from '@parley/protocol';

import { MIGRATIONS } from './schema.ts';
import { sql } from './sql.ts';

/** What a database says of its schema. */
export interface SchemaState {
  version: number;
  /** The oldest schema whose nodes may go on; none in a database of before that was said. */
  oldest: number | null;
}

/** Asks for it. */
export const schemaState = sql`SELECT version, oldest FROM parley_schema`;

/** Refuses a database whose schema this program is too old for. */
export function refuseNewer({ version, oldest }: SchemaState): void {
  const needed = oldest ?? version;
  if (needed <= MIGRATIONS.length) return;
  throw new ParleyError(
    'UNAVAILABLE',
    `the database is of a newer Parley (schema ${Math.max(version, needed)}, this one knows ${MIGRATIONS.length}); update this node`,
  );
}
