import { ENTRY_SALT_BOUND, LIMITS } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import type { Feed } from '../feed.ts';
import { hubCaller } from '../hub-caller.ts';
import { HUB_TOPIC } from '../log.ts';
import { invokedBy } from '../participation/policy.ts';
import type { Waker, WakerDeps } from './ports.ts';

/** Wakes those whom messages call upon, from where it stopped the last time. */
export interface CallFollower {
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface CallFollowerDeps extends WakerDeps {
  feed: Feed;
  waker: Waker;
  /** How long the one who is called has to notice it without being woken. */
  graceMs: number;
}

const NAME = 'wake';
/** Its place stands beside the log under the hub's own name, which no workspace may bear. */
const PLACE = '(hub)';
const SAVE_MS = 2_000;
const RETRY_MS = 1_000;

/** Follows the log of the whole hub. What it has looked at twice is woken for once: what was read or woken for is skipped. */
export function createCallFollower(deps: CallFollowerDeps): CallFollower {
  const { store, clock, chance, feed, waker } = deps;
  const closing = new AbortController();
  let position = 0;
  let saved = 0;
  let isWanted = deps.wakeProfiles.length > 0;
  let savedAt = 0;
  let following: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    if (position === saved) return;
    const head = { caller: hubCaller(PLACE), now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) };
    await store.transact({ type: 'note_follower', ...head, input: { name: NAME, pos: position } });
    saved = position;
    savedAt = clock.monotonic();
  }

  /** Nobody who was ever connected, managed or set up means nobody to wake: the log then goes by unread. */
  const mayWake = (): boolean => (isWanted ||= deps.links.size > 0);

  async function follow(): Promise<void> {
    const bell = feed.subscribe(HUB_TOPIC);
    try {
      while (!closing.signal.aborted) {
        if (!mayWake()) {
          position = Math.max(position, bell.head);
          await bell.next(position, closing.signal);
          continue;
        }
        const query = { workspace_id: undefined, participant: undefined, after: position };
        const page = await store.workspace({
          ...query,
          limit: LIMITS.page_max,
          max_bytes: LIMITS.page_bytes,
        });
        for (const { entry, pos, workspace_id } of page.rows) {
          if (!(await consider(entry, workspace_id))) return;
          position = pos;
        }
        position = page.next;
        if (clock.monotonic() - savedAt >= SAVE_MS) await save();
        if (!page.has_more) await bell.next(position, closing.signal);
      }
    } finally {
      bell.close();
    }
  }

  async function followForever(): Promise<void> {
    while (!closing.signal.aborted) {
      await follow().catch(deps.onFault);
      await pause(RETRY_MS);
    }
  }

  /** Wakes whom an entry calls upon, in the name of whoever wrote it; false when the hub stops before that is done. */
  async function consider(entry: Entry, workspace_id: string): Promise<boolean> {
    if (entry.type !== 'message' && entry.type !== 'task' && entry.type !== 'control') return true;
    const { thread_id, sender_agent_id, human = false } = entry;
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const { thread } = (await store.page(query)).located;
    if (thread === undefined || thread.journal_of !== undefined) return true;
    for (const target of invokedBy(thread, entry)) {
      if (!(await waker.canReach(workspace_id, target))) continue;
      await hasHadTime(entry);
      if (closing.signal.aborted) return false;
      const request = { thread, target, by: sender_agent_id, human, reason: 'called_upon' };
      const { recorded, outcome } = waker.wake(hubCaller(workspace_id), request);
      // Its failure is on record; nobody else waits for it.
      outcome.catch(() => {});
      await recorded;
    }
    return true;
  }

  async function hasHadTime({ created_at }: Entry): Promise<void> {
    const left = Math.min(deps.graceMs, Date.parse(created_at) + deps.graceMs - clock.now());
    if (left > 0) await pause(left);
  }

  function pause(ms: number): Promise<void> {
    if (closing.signal.aborted) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        closing.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      closing.signal.addEventListener('abort', done);
    });
  }

  return {
    async start() {
      const [place] = await store.records({ kind: 'follower', workspace_id: PLACE, prefix: NAME, limit: 1 });
      position = place?.pos ?? (await store.position());
      const sessions = await store.records({
        kind: 'session',
        workspace_id: undefined,
        limit: LIMITS.records,
      });
      isWanted ||= sessions.some(({ management_mode }) => management_mode === 'managed');
      await save();
      following = followForever();
    },
    async close() {
      closing.abort();
      await following;
      await save().catch(deps.onFault);
    },
  };
}
