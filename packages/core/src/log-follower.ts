import { LIMITS } from '@parley/protocol';

import type { Clock } from './clock.ts';
import type { Feed } from './feed.ts';
import type { Store, WorkspacePage } from './store.ts';

/** Keeps something level with the log, in the background, from where it stopped the last time. */
export interface LogFollower {
  start(): void;
  /** True once every change that was acknowledged before the call is taken; false when the time is up first. */
  caughtUp(withinMs: number): Promise<boolean>;
  /** What was kept may have been lost: begins again where it says that it stopped. */
  again(): void;
  close(): Promise<void>;
}

export interface LogFollowerDeps {
  store: Store;
  feed: Feed;
  clock: Clock;
  onFault: (error: unknown) => void;
}

/** What one follower does; both may throw, and are then called again from where things stand. */
export interface Following {
  /** The feed's name for what wakes it. */
  topic: string;
  /** The place in the log from which it is to be read, when the log has come as far as `head`. */
  resume(head: number, isOpen: () => boolean): Promise<number>;
  /** Takes one page of the log of the whole hub. */
  take(page: WorkspacePage, isOpen: () => boolean): Promise<void>;
  /** How long it rests between pages when it is level: what comes meanwhile is taken at once. */
  restMs?: number;
}

const RETRY_MS = 1_000;

/** Follows the log of the whole hub; only its topic wakes it. */
export function createLogFollower(
  { store, feed, clock, onFault }: LogFollowerDeps,
  work: Following,
): LogFollower {
  const { topic, restMs = 0 } = work;
  const closing = new AbortController();
  const waiting = new Set<() => void>();
  const bell = feed.subscribe(topic);
  let doubt = new AbortController();
  /** What is told once is not told again until all was well. */
  let told: string | undefined;
  let position = 0;
  let isLevel = false;
  let following: Promise<void> | undefined;

  const isAt = (wanted: number): boolean => isLevel && position >= wanted;
  const isOpen = (): boolean => !closing.signal.aborted;
  const isDoubted = (): boolean => doubt.signal.aborted;

  async function follow(): Promise<void> {
    // First how far the log has come: what is written while we look comes after it.
    const head = await store.position();
    position = await work.resume(head, isOpen);
    /** With a full page behind it, it is not level: it does not rest before the next. */
    let hasMore = false;
    while (isOpen() && !isDoubted()) {
      if (position >= head) {
        isLevel = true;
        told = undefined;
        for (const wake of waiting) wake();
        if (restMs > 0 && !hasMore && bell.head > position) await pause(restMs);
        await bell.next(position, AbortSignal.any([closing.signal, doubt.signal]));
        if (!isOpen() || isDoubted()) return;
      }
      const query = { workspace_id: undefined, participant: undefined, after: position };
      const limits = { limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
      const page = await store.workspace({ ...query, ...limits });
      await work.take(page, isOpen);
      if (isOpen()) position = page.next;
      hasMore = page.has_more;
    }
  }

  async function followForever(): Promise<void> {
    while (isOpen()) {
      doubt = new AbortController();
      await follow().catch(tell);
      if (isOpen() && !isDoubted()) await pause(RETRY_MS);
    }
  }

  function tell(error: unknown): void {
    const words = String(error);
    if (words !== told) onFault(error);
    told = words;
  }

  /** Waits for a time, for the end, or for the next time that it is level. */
  function pause(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        closing.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      waiting.add(done);
      closing.signal.addEventListener('abort', done);
    });
  }

  return {
    start() {
      following ??= followForever();
    },
    async caughtUp(withinMs) {
      const wanted = bell.head;
      const until = clock.monotonic() + withinMs;
      while (isOpen() && !isAt(wanted)) {
        const left = until - clock.monotonic();
        if (left <= 0) return false;
        await pause(left);
      }
      return isOpen();
    },
    again() {
      isLevel = false;
      doubt.abort();
    },
    async close() {
      closing.abort();
      await following;
      bell.close();
    },
  };
}
