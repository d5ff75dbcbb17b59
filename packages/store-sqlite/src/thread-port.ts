import { Worker } from 'node:worker_threads';

import { ParleyError } from '@parley/protocol';

import type { Notice, Opening, Reply, ThreadStart } from './thread-protocol.ts';

interface Waiting {
  text: string;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

export interface PortOptions {
  /** How many calls cross to the thread at once. */
  maxBatch: number;
  /** How many calls may wait; beyond it callers are told to come back. */
  maxQueue: number;
  onFault: (message: string, fatal: boolean) => void;
}

/**
 * The way to a store thread: what is asked within one turn of the event loop crosses as one message and is answered
 * together; while a batch is under way the next one forms. A lone call leaves at the end of its own turn.
 */
export class ThreadPort {
  readonly #worker: Worker;
  readonly #options: PortOptions;
  #queue: Waiting[] = [];
  #inFlight: Waiting[] = [];
  #scheduled = false;
  #gone: string | undefined;
  #closed: (() => void) | undefined;

  private constructor(worker: Worker, options: PortOptions) {
    this.#worker = worker;
    this.#options = options;
    worker.on('message', (message: string) => this.#receive(message));
    worker.on('error', (error) => this.#end(`the store thread failed: ${error.message}`));
    worker.on('exit', () => this.#end('the store thread has ended'));
  }

  /** Starts a thread and waits until it has opened its database. */
  static async open(start: ThreadStart, options: PortOptions): Promise<ThreadPort> {
    const source = import.meta.url.endsWith('.ts');
    const file = source ? './sqlite-thread-source.mjs' : './sqlite-thread.js';
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: start,
      // Batches are short-lived and small: three heaps at their default size would be most of the hub's memory.
      resourceLimits: { maxYoungGenerationSizeMb: 6 },
    });
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('message', (message: string) => {
        const opening = JSON.parse(message) as Opening;
        if (opening.ready) {
          for (const warning of opening.warnings) options.onFault(warning, false);
          resolve();
          return;
        }
        const { message: text, ours } = opening;
        reject(new ParleyError('UNAVAILABLE', ours ? text : `the log cannot be opened: ${text}`));
        void worker.terminate();
      });
    });
    worker.removeAllListeners('error');
    return new ThreadPort(worker, options);
  }

  /** Calls that the thread has not been given yet. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Sends one call; resolves with its answer or rejects with the rules' error. */
  call<T>(payload: unknown): Promise<T> {
    if (this.#gone !== undefined) return Promise.reject(unavailable(this.#gone));
    if (this.#queue.length >= this.#options.maxQueue) {
      return Promise.reject(
        new ParleyError('UNAVAILABLE', 'the hub is overloaded; retry', { retry_after_ms: 250 }),
      );
    }
    const text = JSON.stringify(payload);
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ text, resolve, reject });
      if (this.#inFlight.length === 0 && !this.#scheduled) {
        this.#scheduled = true;
        setImmediate(() => this.#send());
      }
    });
  }

  /** Lets what is queued finish, then ends the thread. */
  async close(): Promise<void> {
    while (this.#gone === undefined && (this.#queue.length > 0 || this.#inFlight.length > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    if (this.#gone !== undefined) return;
    // From here on the thread's end is no fault, whether it comes before or after its last word.
    this.#gone = 'the store is closed';
    await new Promise<void>((resolve) => {
      this.#closed = resolve;
      this.#worker.once('exit', () => resolve());
      this.#worker.postMessage('close');
    });
    await this.#worker.terminate();
  }

  #send(): void {
    this.#scheduled = false;
    if (this.#queue.length === 0 || this.#inFlight.length > 0) return;
    this.#inFlight = this.#queue.splice(0, this.#options.maxBatch);
    this.#worker.postMessage(`[${this.#inFlight.map(({ text }) => text).join(',')}]`);
  }

  #receive(message: string): void {
    if (message === 'closed') {
      this.#closed?.();
      return;
    }
    const said = JSON.parse(message) as Reply[] | Notice;
    if (!Array.isArray(said)) {
      this.#options.onFault(said.fault, said.fatal);
      return;
    }
    const replies = said;
    const waiting = this.#inFlight;
    this.#inFlight = [];
    this.#send();
    for (const [i, { ok, error, fault, fatal }] of replies.entries()) {
      if (fault !== undefined) this.#options.onFault(fault, fatal === true);
      if (error === undefined) waiting[i]?.resolve(ok as never);
      else waiting[i]?.reject(new ParleyError(error.code, error.message, error.details));
    }
  }

  #end(reason: string): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    for (const { reject } of [...this.#inFlight, ...this.#queue]) reject(unavailable(reason));
    this.#inFlight = [];
    this.#queue = [];
    this.#options.onFault(reason, true);
  }
}

function unavailable(reason: string): ParleyError {
  return new ParleyError(
    'UNAVAILABLE',
    `${reason}; restart the hub, then retry with the same idempotency_key`,
  );
}
