import { Worker } from 'node:worker_threads';

import { ParleyError, PendingCalls } from '@parley/protocol';

import type { ModelName } from './index-words.ts';
import type { ModelChoice } from './model-files.ts';
import type { QdrantPlace } from './qdrant.ts';

/** What crosses to a thread or a process: one call of a method of what lives there. */
export interface ThreadCall {
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
  /** The model whose tokens measure the passages. */
  measure?: ModelChoice | undefined;
  /** Where the index is kept instead. */
  qdrant?: QdrantPlace & { owner: string; kind: string };
}

/** The way to what lives in a thread; whoever waits when the thread ends is told so. */
export class ThreadPort {
  readonly #worker: Worker;
  readonly #pending = new PendingCalls();
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
      if (error === undefined) this.#pending.resolve(id, ok);
      else if (isUnavailable === true)
        this.#pending.reject(id, new ParleyError('UNAVAILABLE', error, { retry_after_ms: 1_000 }));
      else this.#pending.reject(id, new Error(error));
    });
    this.#worker.on('error', (error) => this.#end(error.message));
    this.#worker.on('exit', () => this.#end('the search thread has ended'));
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  call<T>(name: string, ...args: unknown[]): Promise<T> {
    if (this.#gone !== undefined) return Promise.reject(new Error(this.#gone));
    return this.#pending.open<T>((id) => this.#worker.postMessage({ id, name, args } satisfies ThreadCall));
  }

  /** Lets it put its things away, then ends it. */
  async close(): Promise<void> {
    await this.call('close').catch(() => {});
    await this.#worker.terminate();
  }

  #end(reason: string): void {
    this.#gone ??= reason;
    this.#pending.end(() => new Error(this.#gone));
  }
}
