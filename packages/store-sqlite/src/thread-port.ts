import { Worker } from 'node:worker_threads';

import { ParleyError, PendingCalls } from '@parley/protocol';

import type { Hear } from './news.ts';
import type { Forgetting, Notice, Numbered, Opening, Severity, ThreadStart } from './thread-protocol.ts';

export interface PortOptions {
  /** How many calls may wait for an answer; beyond it callers are told to come back. */
  maxQueue: number;
  /** How many calls cross at once at most. */
  maxPiece: number;
  /** What callers are told then. */
  overload?: string;
  /** Hears what the thread meets while it opens its database. */
  onNews?: Hear;
  onFault: (message: string, severity?: Severity) => void;
  /** What stood in the way of writing has passed. */
  onRecovery: () => void;
}

/** So many calls leave at once, while their turn of the event loop goes on: the thread works on them meanwhile. */
const LEAST_PIECE = 8;
/** With many callers pieces are larger: so many of them hold all that wait. */
const PIECES = 16;

/**
 * The way to a store thread: what is asked within one turn of the event loop crosses in a few pieces, and the thread
 * answers each call by its number. A lone call leaves at the end of its own turn.
 */
export class ThreadPort {
  readonly #worker: Worker;
  readonly #options: PortOptions;
  #piece: string[] = [];
  readonly #pending = new PendingCalls();
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
      worker.on('message', (message: string) => {
        // The thread that was started above wrote it.
        const opening = JSON.parse(message) as Opening;
        if ('news' in opening) return options.onNews?.(opening.news);
        if (opening.ready) return resolve();
        const { message: text, ours } = opening;
        reject(new ParleyError('UNAVAILABLE', ours ? text : `the log cannot be opened: ${text}`));
        void worker.terminate();
      });
    });
    worker.removeAllListeners('error');
    worker.removeAllListeners('message');
    return new ThreadPort(worker, options);
  }

  /** The thread has ended, by itself or by a fault. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** Calls that have not been answered yet. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Sends one call; resolves with its answer or rejects with the rules' error. */
  call<T>(payload: unknown): Promise<T> {
    if (this.#gone !== undefined) return Promise.reject(unavailable(this.#gone));
    if (this.waiting >= this.#options.maxQueue) {
      return Promise.reject(
        new ParleyError('UNAVAILABLE', this.#options.overload ?? 'the hub is overloaded; retry', {
          retry_after_ms: 250,
        }),
      );
    }
    const text = JSON.stringify(payload);
    // The thread counts what arrives as the calls are counted here.
    return this.#pending.open<T>(() => {
      const enough = Math.min(this.#options.maxPiece, Math.max(LEAST_PIECE, this.waiting / PIECES));
      if (this.#piece.push(text) >= enough) this.#send();
      else if (!this.#scheduled) {
        this.#scheduled = true;
        setImmediate(() => {
          this.#scheduled = false;
          if (this.#piece.length > 0) this.#send();
        });
      }
    });
  }

  /** Says something that has no answer. */
  say(forgetting: Forgetting): void {
    if (this.#gone === undefined) this.#worker.postMessage(JSON.stringify(forgetting));
  }

  /** Lets what is queued finish, then ends the thread. */
  async close(): Promise<void> {
    while (this.#gone === undefined && this.waiting > 0) {
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
    this.#worker.postMessage(`[${this.#piece.join(',')}]`);
    this.#piece = [];
  }

  #receive(message: string): void {
    if (message === 'closed') {
      this.#closed?.();
      return;
    }
    // The hub's own thread wrote it.
    const said = JSON.parse(message) as Numbered[] | Notice;
    if (!Array.isArray(said)) {
      if ('recovered' in said) this.#options.onRecovery();
      else this.#options.onFault(said.fault, said.severity);
      return;
    }
    for (const [call, { ok, error, fault, severity }] of said) {
      if (fault !== undefined) this.#options.onFault(fault, severity);
      if (error === undefined) this.#pending.resolve(call, ok);
      else this.#pending.reject(call, new ParleyError(error.code, error.message, error.details));
    }
  }

  #end(reason: string): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    this.#pending.end(() => unavailable(reason));
    this.#options.onFault(reason, 'fatal');
  }
}

function unavailable(reason: string): ParleyError {
  return new ParleyError(
    'UNAVAILABLE',
    `${reason}; restart the hub, then retry with the same idempotency_key`,
  );
}
