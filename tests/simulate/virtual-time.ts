/** Time that passes only when it is told to, for everything that takes its timers from the global names. */
export interface VirtualTime {
  /** The wall clock, which may be set. */
  now: () => number;
  /** What has passed since the beginning, which may not. */
  monotonic: () => number;
  jump(ms: number): void;
  /** A timer of the world outside: it outlives a node. The answer takes it back. */
  after(ms: number, run: () => void): () => void;
  /** A node has died: what it had set goes off no more. */
  dropTimers(): void;
  /** Lets time pass up to this moment on the clock that cannot be set. */
  passUntil(at: number): Promise<void>;
  /** How many timers went off. */
  fired(): number;
  /** Gives the real timers back. */
  close(): void;
}

interface Timer {
  at: number;
  /** Of timers that are due at the same moment, who was set first goes off first. */
  order: number;
  everyMs: number | undefined;
  isOutside: boolean;
  run: () => void;
}

/** Beyond it, real timers go off at once. */
const MOST_MS = 2_147_483_647;

/** Takes the place of the global timers until it is closed; what a timer throws is told to `onFault`. */
export function installVirtualTime(start: number, onFault: (error: unknown) => void): VirtualTime {
  const timers = new Map<object, Timer>();
  const real = {
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    setImmediate: globalThis.setImmediate,
    clearTimeout: globalThis.clearTimeout,
    clearInterval: globalThis.clearInterval,
    clearImmediate: globalThis.clearImmediate,
  };
  const realTimeout = AbortSignal.timeout.bind(AbortSignal);
  let passed = 0;
  let offset = 0;
  let order = 0;
  let fired = 0;

  function set(run: () => void, ms: number, isOutside: boolean, isRepeated = false): object {
    const wait = ms >= 1 && ms <= MOST_MS ? Math.trunc(ms) : 1;
    const handle = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
    };
    const everyMs = isRepeated ? wait : undefined;
    timers.set(handle, { at: passed + wait, order: order++, everyMs, isOutside, run });
    return handle;
  }

  const clear = (handle: object | undefined): void => {
    if (handle !== undefined) timers.delete(handle);
  };
  type Callback = (...args: unknown[]) => void;
  Object.assign(globalThis, {
    setTimeout: (run: Callback, ms = 1, ...args: unknown[]) => set(() => run(...args), ms, false),
    setInterval: (run: Callback, ms = 1, ...args: unknown[]) => set(() => run(...args), ms, false, true),
    setImmediate: (run: Callback, ...args: unknown[]) => set(() => run(...args), 1, false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  });
  AbortSignal.timeout = (ms) => {
    const late = new AbortController();
    set(() => late.abort(new DOMException('it took too long', 'TimeoutError')), ms, false);
    return late.signal;
  };

  function next(): [object, Timer] | undefined {
    let first: [object, Timer] | undefined;
    for (const one of timers) {
      const [, { at, order: place }] = one;
      if (first === undefined || at < first[1].at || (at === first[1].at && place < first[1].order))
        first = one;
    }
    return first;
  }

  /** All that follows of itself has happened when a real turn of the loop comes round. */
  const settle = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve));

  return {
    now: () => start + offset + passed,
    monotonic: () => passed,
    jump: (ms) => (offset += ms),
    after(ms, run) {
      const handle = set(run, ms, true);
      return () => clear(handle);
    },
    dropTimers() {
      for (const [handle, { isOutside }] of timers) if (!isOutside) timers.delete(handle);
    },
    async passUntil(moment) {
      await settle();
      for (let due = next(); due !== undefined && due[1].at <= moment; due = next()) {
        const [handle, timer] = due;
        passed = Math.max(passed, timer.at);
        fired += 1;
        if (timer.everyMs === undefined) timers.delete(handle);
        else Object.assign(timer, { at: timer.at + timer.everyMs, order: order++ });
        try {
          timer.run();
        } catch (error) {
          onFault(error);
        }
        await settle();
      }
      passed = Math.max(passed, moment);
    },
    fired: () => fired,
    close() {
      Object.assign(globalThis, real);
      AbortSignal.timeout = realTimeout;
    },
  };
}
