import type { Caller } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import { everyWithPrefix } from '../record-pages.ts';
import type { Offer } from '../records.ts';
import type { Store } from '../store.ts';
import { extend, joined, offerKey } from './offer-run.ts';

/** Remembers which entries of each thread were handed to whom, and by which way. */
export interface Offers {
  /** The entries from `first` to `seq` have just been handed out; `first` may be left out for one alone. */
  note(caller: Caller, threadId: string, seq: number, how: string, first?: number): void;
  /** Another node has handed this out, and writes it in its own time. */
  heard(workspaceId: string, offer: Offer): void;
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

/** What other nodes hand out is remembered so long: by then they have written it. */
const ELSEWHERE_MS = 60_000;
const MOST_ELSEWHERE = 20_000;

/** Offers of one process, written in the background: they are evidence, not the record itself. */
export function createOffers(
  store: Store,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
  /** Hears of everyone who was given something, and of what. */
  onNote: (caller: Caller, offer: Offer) => void = () => {},
): Offers {
  const pendingByWorkspace = new Map<string, Map<string, Pending>>();
  /** By workspace and key, the eldest first. */
  const elsewhere = new Map<string, { offer: Offer; until: number }>();
  let timer: NodeJS.Timeout | undefined;
  let tookMs = 0;
  let flushing: Promise<void> = Promise.resolve();

  async function write(workspace_id: string, batch: readonly [string, Pending][]): Promise<void> {
    const head = commandHead({ clock, chance }, hubCaller(workspace_id));
    const offers = batch.map(([, pending]) => toOffer(pending));
    await store.transact({ type: 'note_offers', ...head, input: { offers } });
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
    const query = { kind: 'offer', workspace_id: workspaceId, prefix } as const;
    const kept = await everyWithPrefix(store, query, offerKey);
    const byKey = new Map(kept.map((offer) => [offerKey(offer), offer]));
    for (const [key, value] of pending) byKey.set(key, joined(byKey.get(key), toOffer(value)));
    for (const [name, { offer }] of elsewhere)
      if (name.startsWith(`${workspaceId} ${prefix}`))
        byKey.set(offerKey(offer), joined(byKey.get(offerKey(offer)), offer));
    return [...byKey.values()];
  }

  return {
    note(caller, thread_id, seq, how, first = seq) {
      const { workspace_id, agent_id } = caller;
      let pending = pendingByWorkspace.get(workspace_id);
      if (pending === undefined) pendingByWorkspace.set(workspace_id, (pending = new Map()));
      const key = offerKey({ thread_id, agent_id, how });
      const known = pending.get(key);
      const next: Pending = { thread_id, agent_id, how, first, seq, at: clock.now() };
      if (known !== undefined && !extend(next, known)) return;
      pending.set(key, next);
      onNote(caller, toOffer(next));
      schedule();
    },
    heard(workspaceId, offer) {
      const now = clock.monotonic();
      const name = `${workspaceId} ${offerKey(offer)}`;
      const known = elsewhere.get(name)?.offer;
      elsewhere.delete(name);
      elsewhere.set(name, { offer: joined(known, offer), until: now + ELSEWHERE_MS });
      for (const [eldest, { until }] of elsewhere) {
        if (until > now && elsewhere.size <= MOST_ELSEWHERE) break;
        elsewhere.delete(eldest);
      }
    },
    of: offersOf,
    async reached(workspaceId, threadId, agentId) {
      const offers = await offersOf(workspaceId, threadId, agentId);
      return Math.max(0, ...offers.filter(({ how }) => how !== 'mcp').map(({ seq }) => seq));
    },
    flush,
  };
}

function toOffer(pending: Pending): Offer {
  return { ...pending, at: new Date(pending.at).toISOString() };
}
