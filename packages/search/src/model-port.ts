import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { Call, Reply } from './thread-port.ts';

/** The way to the model's process; whoever waits when it ends is told so. It ends with us, however we end. */
export class ModelPort {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #next = 1;
  #gone: string | undefined;

  constructor() {
    const file = import.meta.url.endsWith('.ts') ? './model-process-source.mjs' : './model-process.js';
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      serialization: 'advanced',
      execArgv: [],
      // Nothing of the hub's surroundings is its business.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', ({ id, ok, error }: Reply) => {
      const one = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) one?.resolve(ok as never);
      else one?.reject(new Error(error));
    });
    this.#child.on('error', (error) => this.#end(error.message));
    this.#child.on('exit', () => this.#end('the search model has ended'));
  }

  call<T>(name: 'embed' | 'ask', text: string): Promise<T> {
    if (this.#gone !== undefined) return Promise.reject(new Error(this.#gone));
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, name, args: [text] } satisfies Call);
    });
  }

  async close(): Promise<void> {
    if (this.#gone !== undefined) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }

  #end(reason: string): void {
    this.#gone ??= reason;
    for (const { reject } of this.#waiting.values()) reject(new Error(this.#gone));
    this.#waiting.clear();
  }
}
