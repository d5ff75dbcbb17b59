import { setTimeout as sleep } from 'node:timers/promises';

import {
  type ChildExit,
  type ManagedFacts,
  type ManagedListener,
  type ManagedSession,
  RuntimeError,
} from '@parley/runtimes';

/** How often a program that died is started again before it is given up, and how long the first wait is. */
export interface Restarts {
  tries: number;
  firstMs: number;
}

/** A program that is gone: why, and when it is started again; without that it is given up. */
export interface Down {
  why: string;
  again?: { inMs: number; attempt: number; of: number };
}

export interface LastingOptions {
  open: (resume: string | undefined, on: ManagedListener) => Promise<ManagedSession>;
  /** The session to go on with at first. */
  resume: string | undefined;
  restarts: Restarts;
  /** Its `exit` comes once: when the session is closed, or given up. */
  on: ManagedListener;
  onDown: (down: Down) => void;
  onBack: (facts: ManagedFacts, isResumed: boolean) => void;
  /** The old session cannot be gone on with: a new one begins. */
  onForgotten: (why: string) => void;
}

/** One session over the deaths of its program. */
export interface LastingSession extends ManagedSession {
  /** False while the program is being started again; a prompt is then refused with BUSY. */
  readonly isUp: boolean;
  readonly isResumed: boolean;
  /** It has worked on something: from now on there is a session to go on with. */
  worked(): void;
  /** All is well: what went wrong before counts no more. */
  fared(): void;
}

const LONGEST_MS = 30_000;
/** One that has lived so long was well. */
const STEADY_MS = 60_000;
/** Why an old session cannot be gone on with, though a new one can begin. */
const GONE: ReadonlySet<string> = new Set(['THREAD_NOT_FOUND', 'NOT_RESUMABLE']);

/** Opens a session and starts its program again whenever that dies; throws where it does not come up at first. */
export async function openLastingSession(options: LastingOptions): Promise<LastingSession> {
  const { on, restarts, onDown, onBack } = options;
  const closing = new AbortController();
  let current: ManagedSession | undefined;
  let facts: ManagedFacts | undefined;
  let kept = options.resume;
  let isResumed = false;
  let failures = 0;
  let steady: NodeJS.Timeout | undefined;
  let last: ChildExit = { code: null, signal: null, stderr: '' };

  async function open(): Promise<ManagedSession> {
    let session: ManagedSession | undefined;
    let early: ChildExit | undefined;
    const listener: ManagedListener = {
      ...on,
      exit(how) {
        if (session === undefined) early = how;
        else if (current === session) ended(how);
      },
    };
    const resume = kept;
    session = await options.open(resume, listener).catch((error: unknown) => {
      if (resume === undefined || !(error instanceof RuntimeError && GONE.has(error.code))) throw error;
      options.onForgotten(error.message);
      kept = undefined;
      early = undefined;
      return options.open(undefined, listener);
    });
    isResumed = kept !== undefined;
    current = session;
    ({ facts } = session);
    // It died between its first word and ours.
    if (early !== undefined) throw new RuntimeError('START_FAILED', whyOf(early), { exit: early });
    return session;
  }

  function ended(how: ChildExit): void {
    current = undefined;
    last = how;
    clearTimeout(steady);
    if (closing.signal.aborted) on.exit(how);
    else void again(whyOf(how));
  }

  async function again(reason: string): Promise<void> {
    for (let why = reason; ;) {
      if (failures >= restarts.tries) {
        onDown({ why });
        return on.exit(last);
      }
      const inMs = Math.min(LONGEST_MS, restarts.firstMs * 2 ** failures++);
      onDown({ why, again: { inMs, attempt: failures, of: restarts.tries } });
      await sleep(inMs, undefined, { signal: closing.signal }).catch(() => {});
      if (closing.signal.aborted) return on.exit(last);
      try {
        const session = await open();
        // Whoever closed it meanwhile had nothing yet to close.
        if (isClosing()) return await session.close();
        steady = setTimeout(() => (failures = 0), STEADY_MS).unref();
        return onBack(session.facts, isResumed);
      } catch (error) {
        current = undefined;
        if (error instanceof RuntimeError && error.facts.exit !== undefined) last = error.facts.exit;
        why = error instanceof Error ? error.message : String(error);
      }
    }
  }

  function isClosing(): boolean {
    return closing.signal.aborted;
  }

  function required(): ManagedSession {
    if (current === undefined) throw new RuntimeError('BUSY', 'the program is being started again');
    return current;
  }

  await open();
  return {
    get facts() {
      // The first start, which was waited for, has set them.
      return facts as ManagedFacts;
    },
    get isUp() {
      return current !== undefined;
    },
    get isResumed() {
      return isResumed;
    },
    worked() {
      kept = facts?.sessionId;
    },
    fared: () => void (failures = 0),
    prompt: (text) => required().prompt(text),
    steer: async (text) => {
      if (current === undefined) throw new RuntimeError('REFUSED', 'the program is being started again');
      return current.steer(text);
    },
    cancel: async () => (await current?.cancel()) ?? false,
    async close() {
      closing.abort();
      clearTimeout(steady);
      await current?.close();
    },
  };
}

function whyOf({ code, signal, stderr }: ChildExit): string {
  const how = signal === null ? `it ended with ${code ?? 'no code'}` : `it was ended by ${signal}`;
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  return said === '' ? how : `${how}: ${said}`;
}
