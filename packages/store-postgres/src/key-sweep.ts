import { type Ask, sql } from './sql.ts';

/** How many keys go at once: a statement holds what it touches until it ends. */
const AT_ONCE = 500;

/** Forgets idempotency keys that no longer bind, some at a time; while it is at it, nothing is begun anew. */
export function createKeySweep(
  everywhere: Ask,
  onFault: (error: unknown) => void,
): { forget(before: number): void; close(): Promise<void> } {
  const closing = new AbortController();
  let sweeping: Promise<void> | undefined;

  async function sweep(before: number): Promise<void> {
    // What another node forgets at the same time is passed by.
    for (let count = AT_ONCE; count === AT_ONCE && !closing.signal.aborted;) {
      const gone = await everywhere(sql`
        DELETE FROM idempotency WHERE name IN (
          SELECT name FROM idempotency WHERE at < ${before} ORDER BY at LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED)
        RETURNING name`);
      count = gone.length;
    }
  }

  return {
    forget(before) {
      if (closing.signal.aborted) return;
      sweeping ??= sweep(before)
        .catch(onFault)
        .finally(() => (sweeping = undefined));
    },
    async close() {
      closing.abort();
      await sweeping;
    },
  };
}
