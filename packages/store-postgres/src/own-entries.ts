import { damaged } from '@parley/store-rows';

import { sumOfEntry } from './rows.ts';
import { type Sql, sql } from './sql.ts';

/** An entry's number among those of its sender, with what its sum is made of. */
interface NumberedRow {
  sender: string;
  seq: number;
  workspace_id: string;
  pos: number;
  nth: number;
  sum: string;
}

/** The newest entry of a reader in a thread, and its newest one up to its cursor. */
export interface OwnColumns {
  own_last: NumberedRow | null;
  own_read: NumberedRow | null;
}

/** The columns that `ownBy` joins. */
export const OWN = sql`row_to_json(own_last) AS own_last, row_to_json(own_read) AS own_read`;

/** Joins, to threads `t` and the cursors `c` of a reader in them, its own entries by which they are counted. */
export function ownBy(reader: string): Sql {
  const newest = (bound: Sql): Sql => sql`SELECT sender, seq, workspace_id, pos, nth, sum FROM entries
    WHERE thread_id = t.thread_id AND sender = ${reader} ${bound} ORDER BY seq DESC LIMIT 1`;
  // Nobody has that name: whoever asks so wants no count.
  const no = sql`(SELECT NULL::text AS sum WHERE false)`;
  const [last, read] =
    reader === ''
      ? [no, no]
      : [sql`(${newest(sql``)})`, sql`(${newest(sql`AND seq <= coalesce(c.last_read_seq, 0)`)})`];
  return sql`LEFT JOIN LATERAL ${last} own_last ON true LEFT JOIN LATERAL ${read} own_read ON true`;
}

/** How many entries after the cursor are the reader's own. */
export function ownOf({ own_last, own_read }: OwnColumns): number {
  return numberOf(own_last) - numberOf(own_read);
}

function numberOf(row: NumberedRow | null): number {
  if (row === null) return 0;
  if (sumOfEntry(row) !== row.sum) throw damaged(`the number of ${row.sender}’s entry ${row.seq}`);
  return row.nth;
}
