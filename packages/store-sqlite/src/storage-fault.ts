import { sqliteCode, SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR, SQLITE_PROTOCOL } from './sqlite.ts';
import type { Reply } from './thread-protocol.ts';

/** How soon a caller may come again. */
const AGAIN_MS = 1_000;

/** What stands in the way for now, by SQLite's code: after any of these the transaction can be rolled back for certain. */
const PASSING: Readonly<Record<number, string>> = {
  [SQLITE_FULL]: 'the disk is full; nothing was written',
  [SQLITE_BUSY]: 'another program holds the database; nothing was written',
  [SQLITE_PROTOCOL]: 'another program holds the database; nothing was written',
};

/** The answer to a write that could not be made. What was rolled back for certain may be tried again by and by. */
export function refusal(error: unknown): Reply {
  const fault = error instanceof Error ? error.message : String(error);
  const message = PASSING[sqliteCode(error) ?? 0];
  if (message === undefined) return failed(fault);
  const details = { retry_after_ms: AGAIN_MS };
  return { error: { code: 'UNAVAILABLE', message, details }, fault, severity: 'passing' };
}

/** True when somebody else holds the database: nothing was begun. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_PROTOCOL;
}

/** True for what SQLite says of the disk, and not of what stands on it. */
export function isOfDisk(error: unknown): boolean {
  return isBusy(error) || [SQLITE_FULL, SQLITE_IOERR].includes(sqliteCode(error) ?? SQLITE_IOERR);
}

/** The answer to every write after an error of which nobody knows what it left on the disk. */
export function failed(fault: string): Reply {
  return {
    error: {
      code: 'UNAVAILABLE',
      message:
        'the store has failed and takes no more writes; restart the hub, then retry with the same idempotency_key',
    },
    fault,
    severity: 'fatal',
  };
}
