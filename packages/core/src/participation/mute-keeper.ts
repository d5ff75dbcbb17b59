import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import { takeDue } from '../record-pages.ts';
import type { Store } from '../store.ts';

/** Puts on record what time has decided: who was muted for a while may speak again. */
export interface MuteKeeper {
  /** Ends the mutes whose time is up, and looks on until it is closed. */
  start(): Promise<void>;
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
/** Every mute ends by then. */
const LAST = '9999-12-31T23:59:59.999Z';

/** The keeper of one process; it writes under the hub's own name. */
export function createMuteKeeper(
  store: Store,
  log: Log,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
): MuteKeeper {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** One look after the other, so that the last one knows of every mute. */
  let looking: Promise<void> = Promise.resolve();

  async function settle(): Promise<void> {
    const now = clock.now();
    const query = { kind: 'mutes', mark: 'timed', due_by: new Date(now).toISOString() } as const;
    await takeDue(store, query, async (workspace_id, over) => {
      for (const { thread_id } of over) {
        if (closed) return;
        const head = { ...commandHead({ clock, chance }, hubCaller(workspace_id)), thread_id };
        await log.append({ type: 'end_mutes', ...head, input: {} });
      }
    });
    const [first] = await store.records({
      kind: 'mutes',
      workspace_id: undefined,
      marks: ['timed'],
      due_by: LAST,
      limit: 1,
    });
    if (first !== undefined) wait(Math.min(LONGEST_MS, Math.max(0, Date.parse(first.next) - clock.now())));
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
    start() {
      closed = false;
      return settleAll();
    },
    look,
    settleAll,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
