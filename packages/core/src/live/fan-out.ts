import { type Caller, LIMITS, ParleyError } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import type { Feed, Subscription } from '../feed.ts';
import type { Log } from '../log.ts';
import type { Page } from '../store.ts';
import { admitReader } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';

/** Someone who follows threads over a connection that may be slow. */
export interface Follower {
  readonly caller: Caller;
  /** Takes an entry; false when its buffer is full, and then nothing was taken. */
  deliver(entry: Entry): boolean;
  /** Tells it that it was too slow: what it has missed follows now. */
  fellBehind(threadId: string, missedFrom: number): void;
  /** Tells it that it follows a thread no longer, and why. */
  dropped(threadId: string, why: unknown): void;
  /** Resolves once its buffer has drained; false when it has gone instead. */
  drained(): Promise<boolean>;
}

/** Brings the entries of threads to their followers: each is read once, however many wait for it. */
export interface FanOut {
  /** Follows a thread from a position, in place of any earlier position. The caller must have been admitted. */
  follow(follower: Follower, threadId: string, after: number): void;
  unfollow(follower: Follower, threadId?: string): void;
  /** True while an agent follows a thread. */
  hears(workspaceId: string, agentId: string, threadId: string): boolean;
  close(): void;
}

/** How many followers get an entry before the event loop has its turn. */
const CHUNK = 256;

interface Place {
  follower: Follower;
  position: number;
  /** False once it follows no longer. */
  open: boolean;
}

/** One thread that is followed. */
interface Channel {
  threadId: string;
  workspaceId: string;
  /** How far the loop has read; undefined before it knows where the thread ends. */
  position: number | undefined;
  placeByFollower: Map<Follower, Place>;
  /** Those who are as far as the loop. */
  current: Set<Place>;
  subscription: Subscription;
  ending: AbortController;
}

export function createFanOut(deps: {
  log: Pick<Log, 'read'>;
  feed: Pick<Feed, 'subscribe'>;
  /** Hears how far a thread was handed to whom. */
  offered: (caller: Caller, threadId: string, first: number, last: number) => void;
}): FanOut {
  const { log, feed, offered } = deps;
  const channelsByThread = new Map<string, Channel>();
  const channelsByFollower = new WeakMap<Follower, Set<Channel>>();

  function read({ workspaceId, threadId }: Channel, after: number): Promise<Page> {
    const query = { workspace_id: workspaceId, thread_id: threadId, after };
    return log.read({ ...query, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes });
  }

  /** The one loop of a thread: reads what is new and hands it to all who are up to date. */
  async function run(channel: Channel, start: number): Promise<void> {
    const { subscription, ending } = channel;
    let after = start;
    while (!ending.signal.aborted) {
      let page: Page;
      try {
        page = await read(channel, after);
      } catch (error) {
        for (const place of channel.placeByFollower.values()) drop(channel, place, error);
        return;
      }
      if (channel.placeByFollower.size === 0) return;
      after = page.entries.at(-1)?.seq ?? Math.min(after, endOf(page));
      channel.position = after;
      if (page.entries.length > 0) await broadcast(channel, page);
      if (!page.has_more) await subscription.next(after, ending.signal);
    }
  }

  async function broadcast(channel: Channel, page: Page): Promise<void> {
    const isIn = participantsOf(page);
    const first = page.entries[0]?.seq ?? 0;
    const handed: { place: Place; from: number }[] = [];
    let count = 0;
    for (const place of channel.current) {
      const { position } = place;
      const behind = first > position + 1;
      if (!isIn(place.follower.caller)) drop(channel, place, notAdmitted(page, place.follower.caller));
      else if (behind || !hand(place, page.entries)) {
        channel.current.delete(place);
        void catchUp(channel, place, !behind);
      }
      if (place.position > position) handed.push({ place, from: position + 1 });
      if (++count % CHUNK === 0) await turn();
    }
    // Evidence comes after the news: nobody waits for it.
    for (const [i, { place, from }] of handed.entries()) {
      offered(place.follower.caller, channel.threadId, from, place.position);
      if (i % CHUNK === CHUNK - 1) await turn();
    }
  }

  /** Someone who is behind reads on by itself, at its own pace, and joins the others at a moment when it is level. */
  async function catchUp(channel: Channel, place: Place, late: boolean): Promise<void> {
    const { follower } = place;
    try {
      let fell = late;
      while (place.open) {
        if (fell) {
          if (!(await follower.drained()) || hasLeft(place)) return;
          follower.fellBehind(channel.threadId, place.position + 1);
          fell = false;
        }
        if (channel.position !== undefined && place.position >= channel.position) {
          channel.current.add(place);
          return;
        }
        const page = await read(channel, place.position);
        if (hasLeft(place)) return;
        admitReader(page.located, follower.caller);
        if (page.entries.length === 0 && place.position >= (channel.position ?? 0)) {
          // Level with all that was there: should the loop have gone on meanwhile, its next entry shows the hole.
          channel.current.add(place);
          return;
        }
        const from = place.position + 1;
        fell = !hand(place, page.entries);
        if (place.position >= from) offered(follower.caller, channel.threadId, from, place.position);
      }
    } catch (error) {
      if (place.open) drop(channel, place, error);
    }
  }

  /** Gives entries in order, each at most once; false when the follower's buffer was full before the last. */
  function hand(place: Place, entries: readonly Entry[]): boolean {
    return entries.every((entry) => {
      if (entry.seq <= place.position) return true;
      if (!place.follower.deliver(entry)) return false;
      place.position = entry.seq;
      return true;
    });
  }

  function drop(channel: Channel, place: Place, error: unknown): void {
    leave(channel, place);
    place.follower.dropped(channel.threadId, error);
  }

  function leave(channel: Channel, place: Place): void {
    place.open = false;
    channel.current.delete(place);
    channel.placeByFollower.delete(place.follower);
    channelsByFollower.get(place.follower)?.delete(channel);
    if (channel.placeByFollower.size > 0) return;
    channel.ending.abort();
    channel.subscription.close();
    if (channelsByThread.get(channel.threadId) === channel) channelsByThread.delete(channel.threadId);
  }

  function open(threadId: string, workspaceId: string, start: number): Channel {
    const channel: Channel = {
      threadId,
      workspaceId,
      position: undefined,
      placeByFollower: new Map(),
      current: new Set(),
      subscription: feed.subscribe(threadId),
      ending: new AbortController(),
    };
    channelsByThread.set(threadId, channel);
    void run(channel, start);
    return channel;
  }

  return {
    follow(follower, threadId, after) {
      const { workspace_id } = follower.caller;
      const before = channelsByThread.get(threadId)?.placeByFollower.get(follower);
      const known = channelsByThread.get(threadId);
      const channel = known?.workspaceId === workspace_id ? known : open(threadId, workspace_id, after);
      if (before !== undefined && known === channel) {
        before.open = false;
        channel.current.delete(before);
      }
      const place: Place = { follower, position: after, open: true };
      channel.placeByFollower.set(follower, place);
      const own = channelsByFollower.get(follower);
      if (own === undefined) channelsByFollower.set(follower, new Set([channel]));
      else own.add(channel);
      if (channel !== known) channel.current.add(place);
      else void catchUp(channel, place, false);
    },
    unfollow(follower, threadId) {
      for (const channel of channelsByFollower.get(follower) ?? []) {
        const place = channel.placeByFollower.get(follower);
        if (place !== undefined && (threadId === undefined || channel.threadId === threadId))
          leave(channel, place);
      }
    },
    hears(workspaceId, agentId, threadId) {
      const channel = channelsByThread.get(threadId);
      if (channel?.workspaceId !== workspaceId) return false;
      for (const { caller } of channel.placeByFollower.keys()) if (caller.agent_id === agentId) return true;
      return false;
    },
    close() {
      for (const channel of channelsByThread.values())
        for (const place of channel.placeByFollower.values()) leave(channel, place);
    },
  };
}

/** Lets the event loop go round once. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function hasLeft({ open }: Place): boolean {
  return !open;
}

/** Who may read a page, asked once for many. */
function participantsOf({ located }: Page): (caller: Caller) => boolean {
  const { thread } = located;
  const main = 'main' in located ? located.main : undefined;
  const threads = [thread, main].filter((one) => one !== undefined);
  const names = new Set(threads.flatMap(({ participants, journal_of }) => [...participants, journal_of]));
  return (caller) => {
    if (caller.workspace_id !== thread?.workspace_id) return false;
    return names.has(caller.agent_id) || mayOverride(caller);
  };
}

function notAdmitted(page: Page, caller: Caller): unknown {
  try {
    admitReader(page.located, caller);
  } catch (error) {
    return error;
  }
  return new ParleyError('FORBIDDEN', 'you are not a participant of this thread');
}

function endOf({ located }: Page): number {
  return located.thread?.last_seq ?? 0;
}
