import { type Caller, ENTRY_SALT_BOUND } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import type { Offer } from '../records.ts';
import type { Store } from '../store.ts';

/** Remembers how far each thread was handed to whom, and by which way. */
export interface Offers {
  note(caller: Caller, threadId: string, seq: number, how: string): void;
  /** What is not yet in the store. */
  pending(workspaceId: string, threadId: string): Offer[];
  /** Writes what is pending; the last thing before the store closes. */
  flush(): Promise<void>;
  close(): void;
}

const FLUSH_MS = 2_000;
const BATCH = 64;

/** Offers of one process, written in the background: they are evidence, not the record itself. */
export function createOffers(
  store: Store,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
): Offers {
  let byWorkspace = new Map<string, Map<string, Offer>>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const taken = byWorkspace;
    byWorkspace = new Map();
    for (const [workspace_id, offers] of taken) {
      const caller: Caller = { agent_id: 'parley', workspace_id, role: 'orchestrator', session_id: 'hub' };
      const all = [...offers.values()];
      // One command with all of them would hold up the writes of everyone else.
      for (let i = 0; i < all.length; i += BATCH) {
        const head = { caller, now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) };
        try {
          await store.transact({ type: 'note_offers', ...head, input: { offers: all.slice(i, i + BATCH) } });
        } catch (error) {
          onFault(error);
        }
      }
    }
  }

  return {
    note({ workspace_id, agent_id }, thread_id, seq, how) {
      let offers = byWorkspace.get(workspace_id);
      if (offers === undefined) byWorkspace.set(workspace_id, (offers = new Map()));
      const key = `${thread_id} ${agent_id} ${how}`;
      if ((offers.get(key)?.seq ?? 0) >= seq) return;
      offers.set(key, { thread_id, agent_id, how, seq, at: new Date(clock.now()).toISOString() });
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
    },
    pending: (workspaceId, threadId) =>
      [...(byWorkspace.get(workspaceId)?.values() ?? [])].filter((offer) => offer.thread_id === threadId),
    flush,
    close: () => clearTimeout(timer),
  };
}
