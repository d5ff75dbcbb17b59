import type { Caller, OperationName } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import type { Order } from '../commands.ts';
import type { Log } from '../log.ts';
import type { ShareCount } from '../nodes/shared-spending.ts';
import { isIgnored } from '../results.ts';

type StoredAnswer = Record<string, unknown>;

/** A read under a key of its sender. */
export interface KeyedRead {
  operation: OperationName;
  args: StoredAnswer;
  idempotency_key: string;
  order?: Order | undefined;
  /** It is not begun after this moment. */
  deadline?: number | undefined;
}

/** Reads whose answers bind as those of writes do: the key gives the first one again, whatever has changed since. */
export interface Reads {
  once(caller: Caller, read: KeyedRead, run: () => Promise<StoredAnswer>): Promise<StoredAnswer>;
}

export interface ReadsDeps {
  log: Pick<Log, 'append'>;
  clock: Pick<Clock, 'now' | 'trusted'>;
  chance: Pick<Chance, 'below'>;
  idempotencyWindowMs: number;
  /** How many bytes of answers are kept of one workspace in a day: whoever may only look cannot fill the disk. */
  maxBytes: number;
  /** Tells other nodes how many were kept here, and hears of what was kept there. */
  share?: ShareCount | undefined;
}

const DAY_MS = 86_400_000;

/** Keeps the answers of reads beside those of writes, in the same table of keys. */
export function createReads(deps: ReadsDeps): Reads {
  const { log, clock, idempotencyWindowMs, maxBytes } = deps;
  let today = 0;
  const bytesByWorkspace = new Map<string, number>();

  function keptToday(workspace_id: string): number {
    const day = Math.floor(clock.now() / DAY_MS);
    if (day !== today) bytesByWorkspace.clear();
    today = day;
    return bytesByWorkspace.get(workspace_id) ?? 0;
  }

  const add = (workspace_id: string, bytes: number): void =>
    void bytesByWorkspace.set(workspace_id, keptToday(workspace_id) + bytes);
  const tell = deps.share?.('kept reads', add);

  function isTooMuch(workspace_id: string, answer: StoredAnswer): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(answer));
    if (keptToday(workspace_id) + bytes > maxBytes) return true;
    add(workspace_id, bytes);
    tell?.(workspace_id, bytes);
    return false;
  }

  return {
    async once(caller, { operation, args, idempotency_key: key, order, deadline }, run) {
      const { workspace_id } = caller;
      const fresh_after = clock.trusted() - idempotencyWindowMs;
      const idempotency = { scope: `${workspace_id} read ${operation}`, key, fresh_after };
      const head = () => ({ type: 'note_read' as const, ...commandHead(deps, caller), input: args });
      const asked = await log.append({
        ...head(),
        idempotency: { ...idempotency, peek: true },
        ...(order === undefined ? {} : { order }),
        ...(deadline === undefined ? {} : { deadline }),
      });
      if (asked.replayed || isIgnored(asked.result)) return asked.result;
      const answer = await run();
      if (isTooMuch(workspace_id, answer)) return { ...answer, warnings: [...warningsOf(answer), NOT_KEPT] };
      return (await log.append({ ...head(), idempotency, answer })).result;
    },
  };
}

const NOT_KEPT = 'idempotency_key: too many answers of reads were kept today; a repeat reads anew';

function warningsOf({ warnings }: StoredAnswer): string[] {
  return Array.isArray(warnings) ? warnings.map(String) : [];
}
