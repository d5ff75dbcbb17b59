import { LIMITS } from '@parley/protocol';

import { allHeads } from './all-heads.ts';
import type { Clock } from './clock.ts';
import type { Entry } from './entry.ts';
import { createFaultReport } from './fault-report.ts';
import type { Feed, Watch } from './feed.ts';
import { pause } from './pause.ts';
import type { Store, WorkspacePage } from './store.ts';

/** Follows the logs of all workspaces, each in its order, in the background, from where it stopped the last time. */
export interface LogFollower {
  /** Begins, once; resolves when it knows where it goes on, or when its first try to find out has failed. */
  start(): Promise<void>;
  /** True once every change of a workspace that was acknowledged before the call is taken; false when the time is up first. */
  caughtUp(workspaceId: string, withinMs: number): Promise<boolean>;
  /** What was kept may have been lost: begins again where its positions say that it stopped. */
  again(): void;
  close(): Promise<void>;
}

export interface LogFollowerDeps {
  store: Store;
  feed: Feed;
  clock: Clock;
  onFault: (error: unknown) => void;
}

/** Keeps how far a follower has come in each workspace; with what it makes of the log, so that one goes with the other. */
export interface Positions {
  /** Comes before the first `of`, each time that the follower begins. */
  begin?(signal: AbortSignal): Promise<void>;
  /** The place from which the log of a workspace is to be read, when that has come as far as `head`. */
  of(workspaceId: string, head: number, signal: AbortSignal): Promise<number>;
  /** All workspaces that have a log were asked for. */
  begun?(): void;
  /** So far it has come. */
  moved?(workspaceId: string, pos: number): void;
  /** Comes now and then, and at the end. */
  save?(): Promise<void>;
}

/** What one follower does; all may throw, and are then called again from where things stand. */
export interface Following {
  /** What the feed's names for that begin with which wakes it; the rest is the workspace. */
  topics: string;
  positions: Positions;
  /** Takes one page of the log of a workspace, up to what it says is done if it throws; false when the hub stops first. */
  take(
    workspaceId: string,
    page: WorkspacePage,
    signal: AbortSignal,
    done: (pos: number) => void,
  ): Promise<boolean>;
  /** While nobody wants it to look: waits; what was announced before the call then goes by unread. False: it looks. */
  passedBy?(watch: Watch, signal: AbortSignal): Promise<boolean>;
  /** How far the log of a workspace has come, as far as it concerns this one; without it, the whole log does. */
  headOf?(workspaceId: string): Promise<number>;
  /** How long it rests between pages when it is level: what comes meanwhile is taken at once. */
  restMs?: number;
}

const SAVE_MS = 2_000;
const RETRY_MS = 1_000;

/** The one engine of all that follows the log: a page of each workspace in turn; only its topics wake it. */
export function createLogFollower(
  { store, feed, clock, onFault }: LogFollowerDeps,
  work: Following,
): LogFollower {
  const { positions, topics, restMs = 0 } = work;
  const closing = new AbortController();
  const { signal } = closing;
  const watch = feed.watch(topics);
  const waiting = new Set<() => void>();
  const positionByWorkspace = new Map<string, number>();
  /** How far the workspaces have come that are not level; who waits longest is first. */
  const behind = new Map<string, number>();
  /** From one beginning until what was kept is doubted, or the end. */
  let round = new AbortController();
  /** The positions are known of all workspaces that were there when it began. */
  let hasBegun = false;
  let savedAt = -Infinity;
  let restUntil = -Infinity;
  const faults = createFaultReport(onFault);
  let following: Promise<void> | undefined;
  let onTried = (): void => {};
  const tried = new Promise<void>((resolve) => (onTried = resolve));

  const isOver = (): boolean => round.signal.aborted;
  const positionIn = (workspaceId: string): number => positionByWorkspace.get(workspaceId) ?? 0;

  function move(workspaceId: string, pos: number): void {
    positionByWorkspace.set(workspaceId, pos);
    positions.moved?.(workspaceId, pos);
  }

  function hear(): void {
    for (const [workspaceId, pos] of watch.take())
      if (pos > positionIn(workspaceId)) behind.set(workspaceId, pos);
  }

  async function begin(): Promise<void> {
    await positions.begin?.(signal);
    for await (const { workspace_id, pos } of allHeads(store)) {
      if (isOver()) return;
      positionByWorkspace.set(workspace_id, await positions.of(workspace_id, pos, signal));
      if (positionIn(workspace_id) < pos) behind.set(workspace_id, pos);
    }
    positions.begun?.();
    hasBegun = true;
    for (const wake of waiting) wake();
  }

  async function follow(): Promise<void> {
    await begin();
    // A disk that takes nothing now keeps nobody from looking: the positions are written later.
    await positions.save?.().catch(faults.tell);
    onTried();
    /** With a full page behind it, it is not level: it does not rest before the next. */
    let hasMore = false;
    while (!isOver()) {
      const isLevel = behind.size === 0;
      if (isLevel || hasMore) hear();
      if ((await work.passedBy?.(watch, round.signal)) === true) {
        for (const [workspaceId, pos] of behind) move(workspaceId, pos);
        behind.clear();
        continue;
      }
      if (behind.size === 0) {
        await watch.next(round.signal);
        continue;
      }
      const rest = restUntil - clock.monotonic();
      if (isLevel && !hasMore && rest > 0) await pause(rest, round.signal);
      const [first] = behind;
      if (first === undefined || isOver()) continue;
      const page = await takePage(...first);
      if (page === undefined) return;
      hasMore = page.has_more;
      if (clock.monotonic() - savedAt < SAVE_MS) continue;
      await positions.save?.();
      savedAt = clock.monotonic();
      faults.clear();
    }
  }

  /** Takes one page of a workspace; those that wait for theirs come before its next. */
  async function takePage(workspace_id: string, head: number): Promise<WorkspacePage | undefined> {
    const query = { workspace_id, participant: undefined, after: positionIn(workspace_id) };
    const page = await store.workspace({ ...query, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes });
    const isTaken = await work.take(workspace_id, page, signal, (pos) => move(workspace_id, pos));
    if (!isTaken || signal.aborted) return undefined;
    move(workspace_id, page.next);
    behind.delete(workspace_id);
    if (page.has_more) behind.set(workspace_id, head);
    restUntil = clock.monotonic() + restMs;
    for (const wake of waiting) wake();
    return page;
  }

  async function followForever(): Promise<void> {
    while (!signal.aborted) {
      round = new AbortController();
      await follow().catch(faults.tell);
      onTried();
      await pause(RETRY_MS, round.signal);
    }
  }

  /** Waits for a time, for the end, or for the next page that was taken. */
  function nextPage(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      waiting.add(done);
    });
  }

  return {
    start() {
      following ??= followForever();
      return tried;
    },
    async caughtUp(workspaceId, withinMs) {
      const until = clock.monotonic() + withinMs;
      const wanted = await (work.headOf?.(workspaceId) ?? store.position(workspaceId));
      // Another process may have written it, and its ring be lost or yet to come.
      if (positionIn(workspaceId) < wanted) feed.announce(`${topics}${workspaceId}`, wanted);
      while (!signal.aborted) {
        if (hasBegun && positionIn(workspaceId) >= wanted) return true;
        const left = until - clock.monotonic();
        if (left <= 0) return false;
        await nextPage(left);
      }
      return false;
    },
    again() {
      hasBegun = false;
      round.abort();
    },
    async close() {
      closing.abort();
      round.abort();
      for (const wake of waiting) wake();
      onTried();
      await following;
      watch.close();
      await positions.save?.().catch(onFault);
    },
  };
}

/** Takes pages entry by entry; where one stops in the midst, it goes on after the last that was looked at. */
export function eachEntry(
  look: (entry: Entry, workspaceId: string, signal: AbortSignal) => Promise<boolean>,
): Following['take'] {
  return async (workspaceId, { rows }, signal, done) => {
    for (const { entry, pos } of rows) {
      if (!(await look(entry, workspaceId, signal))) return false;
      done(pos);
    }
    return true;
  };
}
