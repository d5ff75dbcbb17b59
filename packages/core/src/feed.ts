/** A standing interest in one thread's position. */
export interface Subscription {
  /** The highest seq announced since the subscription began; 0 before the first. */
  readonly head: number;
  /** Resolves once a seq above `after` was announced, or the signal aborts. */
  next(after: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The bell: says how far a thread has come, never what was said. A lost ring loses nothing. */
export interface Feed {
  announce(threadId: string, seq: number): void;
  subscribe(threadId: string): Subscription;
}

class Listener implements Subscription {
  head = 0;
  #wake: (() => void) | undefined;
  readonly #leave: (listener: Listener) => void;

  constructor(leave: (listener: Listener) => void) {
    this.#leave = leave;
  }

  ring(seq: number): void {
    if (seq <= this.head) return;
    this.head = seq;
    this.#wake?.();
  }

  next(after: number, signal: AbortSignal): Promise<void> {
    if (this.head > after || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wake = undefined;
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done);
    });
  }

  close(): void {
    this.#leave(this);
  }
}

/** The feed of one process. */
export function createFeed(): Feed {
  const listenersByThread = new Map<string, Set<Listener>>();
  return {
    announce(threadId, seq) {
      for (const listener of listenersByThread.get(threadId) ?? []) listener.ring(seq);
    },
    subscribe(threadId) {
      const listeners = listenersByThread.get(threadId) ?? new Set();
      listenersByThread.set(threadId, listeners);
      const listener = new Listener((gone) => {
        listeners.delete(gone);
        if (listeners.size === 0 && listenersByThread.get(threadId) === listeners)
          listenersByThread.delete(threadId);
      });
      listeners.add(listener);
      return listener;
    },
  };
}
