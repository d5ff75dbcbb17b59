import type { Entry } from '../entry.ts';
import type { Feed } from '../feed.ts';
import { hubCaller } from '../hub-caller.ts';
import { createLogFollower, eachEntry, type LogFollower } from '../log-follower.ts';
import { createLogPositions } from '../log-positions.ts';
import { WORKSPACES } from '../log.ts';
import { invokedBy } from '../participation/calls.ts';
import { pause } from '../pause.ts';
import { everyRecord } from '../record-pages.ts';
import { sessionKey } from '../sessions/rules.ts';
import type { Waker, WakerDeps } from './ports.ts';
import type { WaitingSessions } from './waiting-sessions.ts';
import { CALLED_UPON } from './wake.ts';

export interface CallFollowerDeps extends WakerDeps {
  feed: Feed;
  waker: Waker;
  waitingSessions: Pick<WaitingSessions, 'size'>;
  /** How long one who might read by itself has to notice a call without being woken. */
  graceMs: number;
  /** True while an agent has something open that brings it the entries of a thread. */
  hears: (workspaceId: string, agentId: string, threadId: string) => boolean | Promise<boolean>;
}

/** Wakes those whom messages call upon. What it has looked at twice is woken for once: what was read or woken for is skipped. */
export function createCallFollower(deps: CallFollowerDeps): Pick<LogFollower, 'start' | 'close'> {
  const { store, clock, waker } = deps;
  let isWanted = false;

  /** Nobody who was ever connected, waited, managed or set up means nobody to wake: the log then goes by unread. */
  const mayWake = (): boolean =>
    (isWanted ||= deps.wakeProfiles.length + deps.links.size + deps.waitingSessions.size > 0);

  /** Wakes whom an entry calls upon, in the name of whoever wrote it; false when the hub stops before that is done. */
  async function look(entry: Entry, workspace_id: string, signal: AbortSignal): Promise<boolean> {
    if (
      entry.type !== 'message' &&
      entry.type !== 'task' &&
      entry.type !== 'control' &&
      entry.type !== 'result'
    )
      return true;
    const { thread_id, sender_agent_id, human = false } = entry;
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const { thread } = (await store.page(query)).located;
    if (thread === undefined || thread.journal_of !== undefined) return true;
    for (const target of invokedBy(thread, entry)) {
      const reach = await waker.canReach(workspace_id, target);
      // Where nothing listens there is nothing to wait for.
      const mayRead =
        reach !== undefined && (reach.atWork || (await deps.hears(workspace_id, target, thread_id)));
      if (mayRead) await hasHadTime(entry, signal);
      if (signal.aborted) return false;
      const request = { thread, target, by: sender_agent_id, human, reason: CALLED_UPON, call: entry.seq };
      const { recorded, outcome } = waker.wake(hubCaller(workspace_id), request);
      // Its failure is on record; nobody else waits for it.
      outcome.catch(() => {});
      await recorded;
    }
    return true;
  }

  async function hasHadTime({ created_at }: Entry, signal: AbortSignal): Promise<void> {
    const left = Math.min(deps.graceMs, Date.parse(created_at) + deps.graceMs - clock.now());
    if (left > 0) await pause(left, signal);
  }

  const follower = createLogFollower(deps, {
    topics: WORKSPACES,
    positions: createLogPositions(deps, 'wake'),
    take: eachEntry(look),
    async passedBy(watch, signal) {
      if (mayWake()) return false;
      await watch.next(signal);
      return true;
    },
  });

  return {
    async start() {
      if (!isWanted)
        for await (const { management_mode } of everyRecord(store, 'session', undefined, sessionKey))
          if ((isWanted = management_mode === 'managed')) break;
      await follower.start();
    },
    close: () => follower.close(),
  };
}
