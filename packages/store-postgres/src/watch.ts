import type { DatabaseClock } from './database-clock.ts';
import { textOf } from './faults.ts';
import { refuseNewer, schemaState, type SchemaState } from './served.ts';
import { type Ask, sql } from './sql.ts';

/** Knows whether the database is there and takes writes, also while nobody asks it for anything. */
export interface Watch {
  /** Why it cannot be used; undefined while it can. */
  readonly fault: string | undefined;
  /** Refuses whoever asks of a database whose schema has become too new for this node: it would see it wrongly. */
  refuseNewer(): void;
  /** Looks now. */
  look(): Promise<void>;
  /** It has just taken a write: whatever was wrong is over. */
  clear(): void;
  close(): void;
}

const LOOK_MS = 1_000;

/** Looks again and again; `onReturn` hears that it is back after it was away. */
export function startWatch(ask: Ask, clock: DatabaseClock, onReturn: () => void): Watch {
  let fault: string | undefined;
  let schema: SchemaState | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const before = fault;
    try {
      const askedAt = performance.now();
      const [row] = await ask<SchemaState & { shut: boolean; time: number }>(sql`
        SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS shut,
          extract(epoch FROM clock_timestamp())::float8 * 1000 AS time, s.version, s.oldest
        FROM (${schemaState}) s`);
      if (row !== undefined) clock.heard(row.time, askedAt, performance.now());
      schema = row;
      if (row !== undefined) refuseNewer(row);
      fault = row?.shut === true ? 'the database takes no writes' : undefined;
    } catch (error) {
      fault = textOf(error);
    } finally {
      isLooking = false;
    }
    if (before !== undefined && fault === undefined) onReturn();
  };
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return {
    get fault() {
      return fault;
    },
    refuseNewer() {
      if (schema !== undefined) refuseNewer(schema);
    },
    look,
    clear: () => void (fault = undefined),
    close: () => clearInterval(timer),
  };
}
