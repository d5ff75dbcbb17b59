import { Worker } from 'node:worker_threads';

import { ParleyError } from '@parley/protocol';

import type { ModelName } from './index-words.ts';
import type { QdrantPlace } from './qdrant.ts';

/** What crosses to a thread or a process: one call of a method of what lives there. */
export interface Call {
  id: number;
  name: string;
  args: unknown[];
}

/** What comes back. */
export interface Reply {
  id: number;
  ok?: unknown;
  error?: string;
  /** The fault is one of what the index stands on, and may pass. */
  isUnavailable?: boolean;
}

/** What a thread says unasked: why its index was thrown away. */
export interface News {
  thrownAway: string;
}

/** How a thread of the search starts. */
export interface ThreadStart {
  /** The file of the embedded index. */
  path: string;
  model: ModelName;
  /** Where the index is kept instead. */
  qdrant?: QdrantPlace & { owner: string; kind: string };
}

/** The way to what lives in a thread; whoever waits when the thread ends is told so. */
export class ThreadPort {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #next = 1;
  #gone: string | undefined;

  constructor(start: ThreadStart, onNews: (news: News) => void) {
    const isSource = import.meta.url.endsWith('.ts');
    const file = isSource ? './search-thread-source.mjs' : './search-thread.js';
    this.#worker = new Worker(new URL(file, import.meta.url), {
      workerData: start,
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    this.#worker.unref();
    this.#worker.on('message', (said: Reply | News) => {
      if ('thrownAway' in said) return onNews(said);
      const { id, ok, error, isUnavailable } = said;
      const one = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) one?.resolve(ok as never);
      else if (isUnavailable === true)
        one?.reject(new ParleyError('UNAVAILABLE', error, { retry_after_ms: 1_000 }));
      else one?.reject(new Error(error));
    });
    this.#worker.on('error', (error) => this.#end(error.message));
    this.#worker.on('exit', () => this.#end('the search thread has ended'));
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  call<T>(name: string, ...args: unknown[]): Promise<T> {
    if (this.#gone !== undefined) return Promise.reject(new Error(this.#gone));
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, name, args } satisfies Call);
    });
  }

  /** Lets it put its things away, then ends it. */
  async close(): Promise<void> {
    await this.call('close').catch(() => {});
    await this.#worker.terminate();
  }

  #end(reason: string): void {
    this.#gone ??= reason;
    for (const { reject } of this.#waiting.values()) reject(new Error(this.#gone));
    this.#waiting.clear();
  }
}
