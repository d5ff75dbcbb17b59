import { type Caller, ENTRY_SALT_BOUND, LIMITS } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import type { Offer } from '../records.ts';
import type { Store } from '../store.ts';

/** Remembers which entries of each thread were handed to whom, and by which way. */
export interface Offers {
  /** The entries from `first` to `seq` have just been handed out; `first` may be left out for one alone. */
  note(caller: Caller, threadId: string, seq: number, how: string, first?: number): void;
  /** All that is known of a thread, or of one agent in it, the newest included. */
  of(workspaceId: string, threadId: string, agentId?: string): Promise<Offer[]>;
  /** How far an agent has been given a thread's entries themselves; a mere notice of them does not count. */
  reached(workspaceId: string, threadId: string, agentId: string): Promise<number>;
  /** Writes what is pending; the last thing before the store closes. */
  flush(): Promise<void>;
}

interface Pending {
  thread_id: string;
  agent_id: string;
  how: string;
  first: number;
  seq: number;
  at: number;
}

const FLUSH_MS = 2_000;
/** One command with all of them would hold up the writes of everyone else. */
const BATCH = 64;
/** So many at once are written without waiting for the time. */
const MOST_PENDING = 20_000;

/** Offers of one process, written in the background: they are evidence, not the record itself. */
export function createOffers(
  store: Store,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
): Offers {
  const pendingByWorkspace = new Map<string, Map<string, Pending>>();
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  async function write(workspace_id: string, batch: readonly [string, Pending][]): Promise<void> {
    const caller: Caller = { agent_id: 'parley', workspace_id, role: 'orchestrator', session_id: 'hub' };
    const offers = await Promise.all(
      batch.map(async ([prefix, pending]) => {
        const query = { kind: 'offer', workspace_id, prefix, limit: 1 } as const;
        const [stored] = await store.records(query);
        return joined(stored, toOffer(pending));
      }),
    );
    const head = { caller, now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) };
    await store.transact({ type: 'note_offers', ...head, input: { offers } });
  }

  async function writeAll(): Promise<void> {
    for (const [workspaceId, pending] of pendingByWorkspace) {
      while (pending.size > 0) {
        const batch = [...pending].slice(0, BATCH);
        await write(workspaceId, batch);
        // What was noted anew meanwhile stays for the next time.
        for (const [key, value] of batch) {
          if (pending.get(key) !== value) continue;
          pending.delete(key);
          size--;
        }
      }
      pendingByWorkspace.delete(workspaceId);
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(writeAll).catch(onFault);
    return flushing;
  }

  async function offersOf(workspaceId: string, threadId: string, agentId?: string): Promise<Offer[]> {
    const prefix = agentId === undefined ? `${threadId} ` : `${threadId} ${agentId} `;
    const pending = [...(pendingByWorkspace.get(workspaceId) ?? [])].filter(([key]) =>
      key.startsWith(prefix),
    );
    const query = { kind: 'offer', workspace_id: workspaceId, prefix, limit: LIMITS.records } as const;
    const byKey = new Map((await store.records(query)).map((offer) => [keyOf(offer), offer]));
    for (const [key, value] of pending) byKey.set(key, joined(byKey.get(key), toOffer(value)));
    return [...byKey.values()];
  }

  return {
    note({ workspace_id, agent_id }, thread_id, seq, how, first = seq) {
      let pending = pendingByWorkspace.get(workspace_id);
      if (pending === undefined) pendingByWorkspace.set(workspace_id, (pending = new Map()));
      const key = `${thread_id} ${agent_id} ${how}`;
      const known = pending.get(key);
      const next: Pending = { thread_id, agent_id, how, first, seq, at: clock.now() };
      if (known === undefined) size++;
      else if (!extend(next, known)) return;
      pending.set(key, next);
      timer ??= setTimeout(() => void flush(), size > MOST_PENDING ? 0 : FLUSH_MS).unref();
    },
    of: offersOf,
    async reached(workspaceId, threadId, agentId) {
      const offers = await offersOf(workspaceId, threadId, agentId);
      return Math.max(0, ...offers.filter(({ how }) => how !== 'mcp').map(({ seq }) => seq));
    },
    flush,
  };
}

function keyOf({ thread_id, agent_id, how }: Pick<Offer, 'thread_id' | 'agent_id' | 'how'>): string {
  return `${thread_id} ${agent_id} ${how}`;
}

function toOffer(pending: Pending): Offer {
  return { ...pending, at: new Date(pending.at).toISOString() };
}

/** Two runs of one way as one where they meet; else the later in the thread: nothing is claimed that was not handed out. */
function joined(stored: Offer | undefined, offer: Offer): Offer {
  if (stored === undefined) return offer;
  const next = { ...offer };
  return extend(next, stored) ? next : stored;
}

/** Lets a new run take up the known one; false where it brings nothing. */
function extend(next: { first: number; seq: number }, known: { first: number; seq: number }): boolean {
  if (next.seq <= known.seq && next.first >= known.first) return false;
  const apart = next.first > known.seq + 1 || known.first > next.seq + 1;
  if (apart) return next.seq > known.seq;
  next.first = Math.min(next.first, known.first);
  next.seq = Math.max(next.seq, known.seq);
  return true;
}
