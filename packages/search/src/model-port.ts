import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { PendingCalls } from '@parley/protocol';

import type { ModelChoice } from './model-files.ts';
import type { ThreadCall, Reply } from './thread-port.ts';

/** The process ended while something was asked of it; a new one may do better. */
export class ModelEnded extends Error {}

/** There is no model, or no runtime for it: another process would fare no better. */
export class ModelMissing extends Error {}

/** The way to a process of the model; whoever waits when it ends is told so. It ends with us, however we end. */
export class ModelPort {
  readonly #child: ChildProcess;
  readonly #pending = new PendingCalls();
  #gone: string | undefined;

  constructor(choice: ModelChoice, niceness: number) {
    const file = import.meta.url.endsWith('.ts') ? './model-process-source.mjs' : './model-process.js';
    const start = JSON.stringify({ choice, niceness });
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), [start], {
      serialization: 'advanced',
      execArgv: [],
      // Nothing of the hub's surroundings is its business.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', ({ id, ok, error, isUnavailable }: Reply) => {
      if (error === undefined) this.#pending.resolve(id, ok);
      else this.#pending.reject(id, isUnavailable === true ? new ModelMissing(error) : new Error(error));
    });
    this.#child.on('error', (error) => this.#end(error.message));
    this.#child.on('exit', (code, signal) =>
      this.#end(`the search model has ended (${signal ?? `code ${code}`})`),
    );
  }

  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  call<T>(name: 'embed' | 'ask', texts: readonly string[]): Promise<T[]> {
    if (this.#gone !== undefined) return Promise.reject(new ModelEnded(this.#gone));
    // What cannot be sent is told of when the process is gone.
    return this.#pending.open<T[]>((id) =>
      this.#child.send({ id, name, args: [texts] } satisfies ThreadCall, () => {}),
    );
  }

  async close(): Promise<void> {
    if (this.#gone !== undefined) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }

  #end(reason: string): void {
    this.#gone ??= reason;
    this.#pending.end(() => new ModelEnded(this.#gone));
  }
}
