import { ENTRY_SALT_BOUND } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';

/** Puts on record what time has decided: who was muted for a while may speak again. */
export interface MuteKeeper {
  /** A mute with an end may have come: sees to it that it ends. */
  look(): void;
  /** Ends the mutes whose time is up, and waits for the next one. */
  settleAll(): Promise<void>;
  close(): void;
}

/** Looks at least so often while there is a mute to end: a clock may be set, a machine may sleep. */
const LONGEST_MS = 60_000;
/** How soon it is tried again what could not be written. */
const AGAIN_MS = 1_000;

/** The keeper of one process; it writes under the hub's own name. */
export function createMuteKeeper(
  store: Store,
  log: () => Log,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
): MuteKeeper {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** One look after the other, so that the last one knows of every mute. */
  let looking: Promise<void> = Promise.resolve();

  const timed = () =>
    store.records({ kind: 'mutes', workspace_id: undefined, marks: ['timed'], limit: 1_000_000 });

  async function settle(): Promise<void> {
    const now = clock.now();
    for (const { workspace_id, thread_id, next } of await timed()) {
      if (Date.parse(next) > now || closed) continue;
      const head = { caller: hubCaller(workspace_id), now, salt: chance.below(ENTRY_SALT_BOUND), thread_id };
      await log().append({ type: 'end_mutes', ...head, input: {} });
    }
    const ends = (await timed()).map(({ next }) => Date.parse(next));
    if (ends.length > 0) wait(Math.min(LONGEST_MS, Math.max(0, Math.min(...ends) - clock.now())));
  }

  function wait(ms: number): void {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(look, ms).unref();
  }

  function settleAll(): Promise<void> {
    looking = looking.then(settle).catch((error: unknown) => {
      if (closed) return;
      wait(AGAIN_MS);
      onFault(error);
    });
    return looking;
  }

  function look(): void {
    void settleAll();
  }

  return {
    look,
    settleAll,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
