import { type Ask, type Caller, ENTRY_SALT_BOUND, LIMITS } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';

/** Puts on record what time has decided: an ask that nobody answered is denied. */
export interface AskKeeper {
  /** Knows of the asks that were open when the hub started. */
  start(): Promise<void>;
  watch(ask: Ask): void;
  close(): void;
}

const LOOK_MS = 500;

/** The keeper of one process; it writes under the hub's own name. */
export function createAskKeeper(
  store: Store,
  log: () => Log,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
): AskKeeper {
  const open = new Map<string, Ask>();
  let timer: NodeJS.Timeout | undefined;

  async function expire(ask: Ask): Promise<void> {
    const { workspace_id, thread_id, ask_id } = ask;
    const caller: Caller = { agent_id: 'parley', workspace_id, role: 'orchestrator', session_id: 'hub' };
    const salt = chance.below(ENTRY_SALT_BOUND);
    try {
      await log().append({
        type: 'expire_ask',
        caller,
        now: clock.now(),
        salt,
        thread_id,
        ask_id,
        input: {},
      });
    } catch (error) {
      onFault(error);
    }
  }

  function look(): void {
    const now = clock.now();
    for (const ask of open.values()) {
      if (Date.parse(ask.expires_at) > now) continue;
      open.delete(ask.ask_id);
      void expire(ask);
    }
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function watch(ask: Ask): void {
    open.set(ask.ask_id, ask);
    timer ??= setInterval(look, LOOK_MS).unref();
  }

  return {
    async start() {
      const query = { kind: 'ask', workspace_id: undefined, marks: ['open'], limit: LIMITS.records } as const;
      for (const ask of await store.records(query)) watch(ask);
    },
    watch,
    close: () => clearInterval(timer),
  };
}
