import { LIMITS } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import type { Feed } from '../feed.ts';
import { hubCaller } from '../hub-caller.ts';
import { createKeptFollower, type KeptFollower } from '../kept-follower.ts';
import { invokedBy } from '../participation/policy.ts';
import { pause } from '../pause.ts';
import type { Waker, WakerDeps } from './ports.ts';

export interface CallFollowerDeps extends WakerDeps {
  feed: Feed;
  waker: Waker;
  /** How long the one who is called has to notice it without being woken. */
  graceMs: number;
}

/** Wakes those whom messages call upon. What it has looked at twice is woken for once: what was read or woken for is skipped. */
export function createCallFollower(deps: CallFollowerDeps): KeptFollower {
  const { store, clock, waker } = deps;
  let isWanted = deps.wakeProfiles.length > 0;

  /** Nobody who was ever connected, managed or set up means nobody to wake: the log then goes by unread. */
  const mayWake = (): boolean => (isWanted ||= deps.links.size > 0);

  /** Wakes whom an entry calls upon, in the name of whoever wrote it; false when the hub stops before that is done. */
  async function look(entry: Entry, workspace_id: string, signal: AbortSignal): Promise<boolean> {
    if (entry.type !== 'message' && entry.type !== 'task' && entry.type !== 'control') return true;
    const { thread_id, sender_agent_id, human = false } = entry;
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const { thread } = (await store.page(query)).located;
    if (thread === undefined || thread.journal_of !== undefined) return true;
    for (const target of invokedBy(thread, entry)) {
      if (!(await waker.canReach(workspace_id, target))) continue;
      await hasHadTime(entry, signal);
      if (signal.aborted) return false;
      const request = { thread, target, by: sender_agent_id, human, reason: 'called_upon' };
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

  const follower = createKeptFollower(deps, {
    name: 'wake',
    look,
    async passedBy(bell, signal) {
      if (mayWake()) return undefined;
      const { head } = bell;
      await bell.next(head, signal);
      return head;
    },
  });

  return {
    async start() {
      const sessions = await store.records({
        kind: 'session',
        workspace_id: undefined,
        limit: LIMITS.records,
      });
      isWanted ||= sessions.some(({ management_mode }) => management_mode === 'managed');
      await follower.start();
    },
    close: () => follower.close(),
  };
}
