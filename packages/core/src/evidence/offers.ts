import { type Caller, ENTRY_SALT_BOUND, LIMITS } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { hubCaller } from '../hub-caller.ts';
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
/** Writing them takes at most this part of the time: a crowd of followers is noted less often. */
const SPARING = 20;
/** How many rows are remembered as they were written, so that they need not be read again. */
const REMEMBERED = 20_000;

/** Offers of one process, written in the background: they are evidence, not the record itself. */
export function createOffers(
  store: Store,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
): Offers {
  const pendingByWorkspace = new Map<string, Map<string, Pending>>();
  const writtenByName = new Map<string, Offer>();
  let timer: NodeJS.Timeout | undefined;
  let tookMs = 0;
  let flushing: Promise<void> = Promise.resolve();

  async function stored(workspace_id: string, key: string): Promise<Offer | undefined> {
    const written = writtenByName.get(`${workspace_id} ${key}`);
    return written ?? (await store.records({ kind: 'offer', workspace_id, prefix: key, limit: 1 }))[0];
  }

  async function write(workspace_id: string, batch: readonly [string, Pending][]): Promise<void> {
    const caller = hubCaller(workspace_id);
    const offers = await Promise.all(
      batch.map(async ([key, pending]) => joined(await stored(workspace_id, key), toOffer(pending))),
    );
    const head = { caller, now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) };
    await store.transact({ type: 'note_offers', ...head, input: { offers } });
    if (writtenByName.size > REMEMBERED) writtenByName.clear();
    for (const offer of offers) writtenByName.set(`${workspace_id} ${keyOf(offer)}`, offer);
  }

  async function writeAll(): Promise<void> {
    const startedAt = clock.monotonic();
    for (const [workspaceId, pending] of pendingByWorkspace) {
      const taken = [...pending];
      for (let i = 0; i < taken.length; i += BATCH) {
        const batch = taken.slice(i, i + BATCH);
        await write(workspaceId, batch);
        // What was noted anew meanwhile stays for the next time.
        for (const [key, value] of batch) if (pending.get(key) === value) pending.delete(key);
      }
      if (pending.size === 0) pendingByWorkspace.delete(workspaceId);
    }
    tookMs = clock.monotonic() - startedAt;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), Math.max(FLUSH_MS, SPARING * tookMs)).unref();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(writeAll).catch(onFault);
    return flushing.then(() => {
      if (pendingByWorkspace.size > 0) schedule();
    });
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
      if (known !== undefined && !extend(next, known)) return;
      pending.set(key, next);
      schedule();
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
