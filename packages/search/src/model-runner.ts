import type { ModelChoice } from './model-files.ts';
import { ModelEnded, ModelPort } from './model-port.ts';

export interface ModelRunnerOptions {
  choice: ModelChoice;
  /** How far it steps back behind others that want the processor. */
  niceness: number;
  idleMs: number;
  /** Hears that the process ended by itself; once, until one has done something again. */
  onEnded: (error: Error) => void;
}

/** After the first end a process is started at once, then ever later. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** One process of the model at a time: it starts with the first need, is started anew when it ends, and ends after a rest. */
export class ModelRunner {
  readonly #options: ModelRunnerOptions;
  #port: ModelPort | undefined;
  #idle: NodeJS.Timeout | undefined;
  #ends = 0;
  #startable = 0;

  constructor(options: ModelRunnerOptions) {
    this.#options = options;
  }

  /** How long it is until a process may be started; 0 when it may be asked now. */
  get waitMs(): number {
    return Math.max(0, this.#startable - performance.now());
  }

  async call<T>(name: 'embed' | 'ask', texts: readonly string[]): Promise<T[]> {
    clearTimeout(this.#idle);
    if (this.#port?.isGone === true) this.#port = undefined;
    this.#port ??= new ModelPort(this.#options.choice, this.#options.niceness);
    try {
      const made = await this.#port.call<T>(name, texts);
      this.#ends = 0;
      return made;
    } catch (error) {
      if (error instanceof ModelEnded) this.#ended(error);
      throw error;
    } finally {
      this.#idle = setTimeout(() => void this.close(), this.#options.idleMs).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const port = this.#port;
    this.#port = undefined;
    await port?.close();
  }

  #ended(error: ModelEnded): void {
    if (this.#port === undefined) return;
    this.#port = undefined;
    const wait = this.#ends === 0 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#ends - 1));
    this.#startable = performance.now() + wait;
    if (this.#ends++ === 0) this.#options.onEnded(error);
  }
}
