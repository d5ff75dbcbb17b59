import { LIMITS } from '@parley/protocol';

import { allHeads } from './all-heads.ts';
import type { Chance, Clock } from './clock.ts';
import { commandHead } from './command-head.ts';
import { hubCaller, OWN_WORKSPACE } from './hub-caller.ts';
import type { Store } from './store.ts';
import { type Jump, type KnownTime, lookAtClock, STEP_MS } from './trusted-time.ts';

/** Looks at the wall clock with doubt, and remembers over restarts what it saw. */
export interface TimeKeeper {
  /** How far time has surely come; what cannot be undone goes by it. */
  trusted(): number;
  known(): KnownTime;
  /** What the clock showed when the hub before this one noted it last; undefined for a first one. */
  readonly ranUntil: number | undefined;
  close(): Promise<void>;
}

export interface TimeKeeperDeps {
  store: Store;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  chance: Chance;
  /** Milliseconds since the machine was started, its sleep included. */
  uptime: () => number;
  onJump: (jump: Jump) => void;
  /** Whether it is this process that writes it down, where several look at their clocks. */
  isWriter?: () => boolean;
  onFault: (error: unknown) => void;
}

const LOOK_MS = 1_000;
const SAVE_MS = 3_600_000;
/** How soon it is written again what the disk did not take. */
const AGAIN_MS = 60_000;

/** Takes up what is on record, or else the time of the newest entry, and looks at the clock from now on. */
export async function openTimeKeeper(deps: TimeKeeperDeps): Promise<TimeKeeper> {
  const { store, clock, uptime } = deps;
  let lookedAt = clock.monotonic();
  let slept = { uptime: uptime(), at: lookedAt };
  let known: KnownTime;
  let saved: KnownTime | undefined;
  let savedAt = -Infinity;
  let saving: Promise<void> = Promise.resolve();

  function look(isFirst = false): KnownTime {
    const shown = clock.now();
    const at = clock.monotonic();
    let elapsed = at - lookedAt;
    lookedAt = at;
    if (shown - known.seen - elapsed > STEP_MS) elapsed += sleep(at);
    const next = lookAtClock(known, shown, isFirst ? undefined : elapsed);
    const isNews = next.jumps !== known.jumps || next.doubted_from !== known.doubted_from;
    const jump = next.jumps === known.jumps ? undefined : next.jumps.at(-1);
    known = next;
    if (jump !== undefined) deps.onJump(jump);
    if (isNews || at - savedAt >= SAVE_MS) save(at);
    return known;
  }

  /** How long the machine has slept since this was asked last: the monotonic clock stood still meanwhile. */
  function sleep(at: number): number {
    const before = slept;
    slept = { uptime: uptime(), at };
    return Math.max(0, slept.uptime - before.uptime - (at - before.at));
  }

  function save(at: number): void {
    savedAt = at;
    saving = saving.then(write).catch((error: unknown) => {
      savedAt = at - SAVE_MS + AGAIN_MS;
      deps.onFault(error);
    });
  }

  async function write(): Promise<void> {
    if (known === saved || deps.isWriter?.() === false) return;
    const input = known;
    const head = commandHead(deps, hubCaller(OWN_WORKSPACE));
    await store.transact({ type: 'note_clock', ...head, input });
    saved = input;
  }

  const [kept] = await store.records({ kind: 'clock', workspace_id: OWN_WORKSPACE, limit: 1 });
  known = kept ?? (await beginning(store, clock.now()));
  look(true);
  const timer = setInterval(() => {
    look();
    sleep(lookedAt);
  }, LOOK_MS).unref();
  return {
    // Every command asks: within one millisecond the first look holds.
    trusted: () => (clock.now() === known.seen ? known : look()).trusted,
    known: () => look(),
    ranUntil: kept?.seen,
    async close() {
      clearInterval(timer);
      look();
      save(lookedAt);
      await saving;
    },
  };
}

/** Where nothing is on record: the newest entry tells when somebody last looked at the clock. */
async function beginning(store: Store, now: number): Promise<KnownTime> {
  const query = { participant: undefined, max_bytes: LIMITS.page_bytes, limit: 1 };
  let newest: number | undefined;
  for await (const { workspace_id, pos } of allHeads(store)) {
    const { rows } = await store.workspace({ ...query, workspace_id, after: pos - 1 });
    for (const { entry } of rows) newest = Math.max(newest ?? 0, Date.parse(entry.created_at));
  }
  const written = newest ?? now;
  return { trusted: written, seen: written, jumps: [] };
}
