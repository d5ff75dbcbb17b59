import { LIMITS } from '@parley/protocol';

import { allHeads } from './all-heads.ts';
import type { Clock } from './clock.ts';
import { createFaultReport } from './fault-report.ts';
import type { Feed } from './feed.ts';
import { announce } from './log.ts';
import type { Reached, Store } from './store.ts';

/** Looks at the store now and then, behind the feed: what should have been announced and was not is announced then. */
export interface FeedPoll {
  /** This was announced. */
  heard(reached: readonly Reached[]): void;
  close(): Promise<void>;
}

export interface FeedPollDeps {
  store: Pick<Store, 'size' | 'heads' | 'workspace'>;
  feed: Pick<Feed, 'announce'>;
  clock: Pick<Clock, 'monotonic'>;
  onFault: (error: unknown) => void;
  everyMs?: number;
}

const EVERY_MS = 1_000;
/** So many steps of a workspace wait for one that was not heard yet. */
const MOST_AHEAD = 1_000;
/** Looking takes at most this part of the time, however many workspaces there are. */
const SPARING = 50;

/**
 * While nothing is written a look asks how long the log is and no more; else how far each workspace has come. What is
 * not announced by the look after that has lost its ring, or never had one.
 */
export function startFeedPoll(deps: FeedPollDeps): FeedPoll {
  const { store, feed, clock, onFault, everyMs = EVERY_MS } = deps;
  /** Up to where everything in the log of a workspace was announced. */
  const coveredByWorkspace = new Map<string, number>();
  /** What was heard before what stands in front of it, by where it begins: the words of two nodes may cross. */
  const aheadByWorkspace = new Map<string, Map<number, number>>();
  /** Those that had come further when they were looked at: mostly the ring is on its way. */
  const suspects = new Map<string, number>();
  let size: number | undefined;
  const faults = createFaultReport(onFault);
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  const coveredIn = (workspaceId: string): number => coveredByWorkspace.get(workspaceId) ?? 0;

  function cover(workspaceId: string, pos: number): void {
    let reached = Math.max(pos, coveredIn(workspaceId));
    const ahead = aheadByWorkspace.get(workspaceId);
    for (let next = ahead?.get(reached); next !== undefined; next = ahead?.get(reached)) {
      ahead?.delete(reached);
      reached = next;
    }
    if (ahead?.size === 0) aheadByWorkspace.delete(workspaceId);
    coveredByWorkspace.set(workspaceId, reached);
  }

  function wait(workspaceId: string, after: number, pos: number): void {
    const ahead = aheadByWorkspace.get(workspaceId) ?? new Map<number, number>();
    // With so much in front of it something is lost: the next look reads it all.
    if (ahead.size >= MOST_AHEAD) ahead.clear();
    aheadByWorkspace.set(workspaceId, ahead.set(after, pos));
  }

  /** Announces all that a workspace has and that was not announced. */
  async function makeUp(workspace_id: string): Promise<void> {
    for (let more = true; more && !closing.signal.aborted;) {
      const query = { workspace_id, participant: undefined, after: coveredIn(workspace_id) };
      const page = await store.workspace({ ...query, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes });
      for (const { entry, pos } of page.rows)
        announce(feed, { thread_id: entry.thread_id, last_seq: entry.seq, workspace_id, pos });
      cover(workspace_id, page.next);
      // What is covered needs no memory of what was ahead of it.
      for (const after of aheadByWorkspace.get(workspace_id)?.keys() ?? [])
        if (after < coveredIn(workspace_id)) aheadByWorkspace.get(workspace_id)?.delete(after);
      more = page.has_more;
    }
  }

  async function look(): Promise<void> {
    for (const [workspaceId, pos] of suspects) {
      if (coveredIn(workspaceId) < pos) await makeUp(workspaceId);
      suspects.delete(workspaceId);
    }
    const now = await store.size();
    if (now === size) return;
    for await (const { workspace_id, pos } of allHeads(store)) {
      // What was there at the first look is there for everybody who follows: it needs no ring.
      if (size === undefined) cover(workspace_id, pos);
      else if (pos > coveredIn(workspace_id)) suspects.set(workspace_id, pos);
    }
    size = now;
  }

  function plan(ms: number): void {
    if (closing.signal.aborted) return;
    timer = setTimeout(() => {
      const began = clock.monotonic();
      looking = look()
        .then(faults.clear, faults.tell)
        .then(() => plan(Math.max(everyMs, SPARING * (clock.monotonic() - began))));
    }, ms).unref();
  }

  plan(0);
  return {
    heard(reached) {
      for (const { workspace_id, after, pos } of reached)
        if (after <= coveredIn(workspace_id)) cover(workspace_id, pos);
        else wait(workspace_id, after, pos);
    },
    async close() {
      closing.abort();
      clearTimeout(timer);
      await looking;
    },
  };
}
