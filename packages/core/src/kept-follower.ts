import { ENTRY_SALT_BOUND, LIMITS } from '@parley/protocol';

import type { Chance, Clock } from './clock.ts';
import type { Entry } from './entry.ts';
import type { Feed, Subscription } from './feed.ts';
import { hubCaller, OWN_WORKSPACE } from './hub-caller.ts';
import { HUB_TOPIC } from './log.ts';
import { pause } from './pause.ts';
import type { Store } from './store.ts';

/** Looks at every entry of the hub, in order, from where it stopped the last time. */
export interface KeptFollower {
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface KeptFollowerDeps {
  store: Store;
  clock: Clock;
  chance: Chance;
  feed: Feed;
  onFault: (error: unknown) => void;
}

/** What one follower does. */
export interface Looking {
  /** Under which its place is kept. */
  name: string;
  /** While nobody wants it to look: waits, and tells up to where the log may go by unread. Undefined: it looks. */
  passedBy(bell: Subscription, signal: AbortSignal): Promise<number | undefined>;
  /** False when the hub stops before it is done with the entry. */
  look(entry: Entry, workspaceId: string, signal: AbortSignal): Promise<boolean>;
  /** What comes within this time is read at once. */
  restMs?: number;
}

const SAVE_MS = 2_000;
const RETRY_MS = 1_000;

/** Its place is written now and then: after a crash it looks at some entries twice. */
export function createKeptFollower(deps: KeptFollowerDeps, looking: Looking): KeptFollower {
  const { store, clock, chance, feed, onFault } = deps;
  const { name, restMs = 0 } = looking;
  const closing = new AbortController();
  const { signal } = closing;
  let position = 0;
  let saved = -1;
  let savedAt = 0;
  /** What is told once is not told again until a place was written. */
  let told: string | undefined;
  let following: Promise<void> = Promise.resolve();

  async function save(): Promise<void> {
    if (position === saved) return;
    const head = { caller: hubCaller(OWN_WORKSPACE), now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) };
    await store.transact({ type: 'note_follower', ...head, input: { name, pos: position } });
    saved = position;
    savedAt = clock.monotonic();
    told = undefined;
  }

  async function follow(bell: Subscription): Promise<void> {
    while (!signal.aborted) {
      const passed = await looking.passedBy(bell, signal);
      if (passed !== undefined) {
        position = Math.max(position, passed);
        continue;
      }
      const query = { workspace_id: undefined, participant: undefined, after: position };
      const page = await store.workspace({ ...query, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes });
      for (const { entry, pos, workspace_id } of page.rows) {
        if (!(await looking.look(entry, workspace_id, signal))) return;
        position = pos;
      }
      position = page.next;
      if (clock.monotonic() - savedAt >= SAVE_MS) await save();
      if (page.has_more) continue;
      await bell.next(position, signal);
      if (restMs > 0) await pause(restMs, signal);
    }
  }

  function tell(error: unknown): void {
    const words = String(error);
    if (words !== told) onFault(error);
    told = words;
  }

  async function followForever(): Promise<void> {
    while (!signal.aborted) {
      const bell = feed.subscribe(HUB_TOPIC);
      await follow(bell).catch(tell);
      bell.close();
      await pause(RETRY_MS, signal);
    }
  }

  return {
    async start() {
      const [place] = await store.records({
        kind: 'follower',
        workspace_id: OWN_WORKSPACE,
        prefix: name,
        limit: 1,
      });
      position = place?.pos ?? (await store.position());
      saved = place?.pos ?? -1;
      // A disk that takes nothing now keeps nobody from looking: the place is written later.
      await save().catch(tell);
      following = followForever();
    },
    async close() {
      closing.abort();
      await following;
      await save().catch(onFault);
    },
  };
}
