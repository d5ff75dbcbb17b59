/** A standing interest in the position of one topic: a thread, or a workspace. */
export interface Subscription {
  /** The highest seq announced since the subscription began; 0 before the first. */
  readonly head: number;
  /** Resolves once a seq above `after` was announced, or the signal aborts. */
  next(after: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** A standing interest in all topics whose names begin alike. */
export interface Watch {
  /** What was announced or rung since the last call: how far each has come, by its name without the common beginning. */
  take(): ReadonlyMap<string, number>;
  /** Resolves once there is something to take, or the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** A standing interest in something that has no position. */
export interface Changes {
  /** Resolves once it was rung since the last time that this resolved, or since it is there; or the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * Announces how far a thread or a workspace has come, never what was said: numbers that every process reads the same.
 * What has no position is rung for. A lost announcement loses nothing.
 */
export interface Feed {
  announce(topic: string, seq: number): void;
  subscribe(topic: string): Subscription;
  watch(prefix: string): Watch;
  /** Something may have changed that has no position: whoever listens looks again. */
  ring(topic: string): void;
  /** The same for this process alone: the others hear of it by themselves. */
  ringHere(topic: string): void;
  listen(topic: string): Changes;
}

class Listener implements Subscription {
  head = 0;
  #wake: (() => void) | undefined;
  readonly #leave: (listener: Listener) => void;

  constructor(leave: (listener: Listener) => void) {
    this.#leave = leave;
  }

  announce(seq: number): void {
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

class Watcher implements Watch {
  readonly #subscription: Listener;
  readonly #prefix: string;
  #announced = 0;
  #news = new Map<string, number>();

  constructor(prefix: string, leave: (watcher: Watcher) => void) {
    this.#prefix = prefix;
    this.#subscription = new Listener(() => leave(this));
  }

  announce(topic: string, seq: number): void {
    if (!topic.startsWith(this.#prefix)) return;
    const name = topic.slice(this.#prefix.length);
    this.#news.set(name, Math.max(seq, this.#news.get(name) ?? 0));
    this.#subscription.announce(++this.#announced);
  }

  take(): ReadonlyMap<string, number> {
    const news = this.#news;
    if (news.size > 0) this.#news = new Map();
    return news;
  }

  next(signal: AbortSignal): Promise<void> {
    return this.#subscription.next(this.#news.size > 0 ? -1 : this.#announced, signal);
  }

  close(): void {
    this.#subscription.close();
  }
}

/** Rings are counted where they are heard: their number means nothing to anybody else. */
class ChangeListener implements Changes {
  readonly #subscription: Listener;
  #heard = 0;

  constructor(leave: (listener: ChangeListener) => void) {
    this.#subscription = new Listener(() => leave(this));
  }

  ring(): void {
    this.#subscription.announce(this.#subscription.head + 1);
  }

  async next(signal: AbortSignal): Promise<void> {
    await this.#subscription.next(this.#heard, signal);
    this.#heard = this.#subscription.head;
  }

  close(): void {
    this.#subscription.close();
  }
}

/** Those who have an interest in each topic. */
class Topics<T> {
  readonly #byTopic = new Map<string, Set<T>>();

  of(topic: string): Iterable<T> {
    return this.#byTopic.get(topic) ?? [];
  }

  add(topic: string, make: (leave: (one: T) => void) => T): T {
    const all = this.#byTopic.get(topic) ?? new Set<T>();
    this.#byTopic.set(topic, all);
    const made = make((gone) => {
      all.delete(gone);
      if (all.size === 0 && this.#byTopic.get(topic) === all) this.#byTopic.delete(topic);
    });
    all.add(made);
    return made;
  }
}

/** The feed of one process. */
export function createFeed(): Feed {
  const listeners = new Topics<Listener>();
  const changeListeners = new Topics<ChangeListener>();
  const watchers = new Set<Watcher>();
  function ring(topic: string): void {
    for (const listener of changeListeners.of(topic)) listener.ring();
    for (const watcher of watchers) watcher.announce(topic, 0);
  }
  return {
    announce(topic, seq) {
      for (const listener of listeners.of(topic)) listener.announce(seq);
      for (const watcher of watchers) watcher.announce(topic, seq);
    },
    subscribe: (topic) => listeners.add(topic, (leave) => new Listener(leave)),
    watch(prefix) {
      const watcher = new Watcher(prefix, (gone) => watchers.delete(gone));
      watchers.add(watcher);
      return watcher;
    },
    ring,
    ringHere: ring,
    listen: (topic) => changeListeners.add(topic, (leave) => new ChangeListener(leave)),
  };
}
