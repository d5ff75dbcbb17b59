import type { ModelName } from './index-words.ts';
import type { AskedVector } from './model.ts';
import { BUILT_IN } from './model-files.ts';
import { ModelPort } from './model-port.ts';

/** Makes vectors of texts. */
export interface Embedder {
  readonly model: ModelName;
  /** A vector for each text. Null: the model does not know the language; undefined: there are none now. */
  embed(texts: readonly string[]): Promise<(Float32Array | null)[] | undefined>;
  /** A question goes before the passages that wait. */
  ask(text: string): Promise<AskedVector | null | undefined>;
  /** Why there will be no vectors any more; undefined while there is no reason to think so. */
  readonly fault: string | undefined;
  close(): Promise<void>;
}

interface Job {
  name: 'embed' | 'ask';
  text: string;
  resolve: (made: never) => void;
}

/** The model that comes with the hub, in a process of its own: it starts with the first text and ends after a time without any. */
export function createBuiltInEmbedder(idleMs: number, onFault: (error: unknown) => void): Embedder {
  const questions: Job[] = [];
  const passages: Job[] = [];
  let port: ModelPort | undefined;
  let fault: string | undefined;
  let idle: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    clearTimeout(idle);
    for (let job = questions.shift() ?? passages.shift(); job; job = questions.shift() ?? passages.shift()) {
      try {
        port ??= new ModelPort();
        job.resolve(await port.call<never>(job.name, job.text));
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
        onFault(new Error(`texts are found by their words alone until the hub starts anew: ${fault}`));
        job.resolve(undefined as never);
        for (const left of [...questions.splice(0), ...passages.splice(0)]) left.resolve(undefined as never);
      }
    }
    working = undefined;
    idle = setTimeout(() => void rest(), idleMs).unref();
  }

  function enqueue<T>(queue: Job[], name: Job['name'], text: string): Promise<T | undefined> {
    if (fault !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      queue.push({ name, text, resolve });
      working ??= work();
    });
  }

  async function rest(): Promise<void> {
    clearTimeout(idle);
    const old = port;
    port = undefined;
    await old?.close();
  }

  return {
    model: BUILT_IN,
    get fault() {
      return fault;
    },
    async embed(texts) {
      const made = await Promise.all(
        texts.map((text) => enqueue<Float32Array | null>(passages, 'embed', text)),
      );
      return made.every((one) => one !== undefined) ? made : undefined;
    },
    ask: (text) => enqueue(questions, 'ask', text),
    async close() {
      fault ??= 'the search is closed';
      for (const left of [...questions.splice(0), ...passages.splice(0)]) left.resolve(undefined as never);
      await working;
      await rest();
    },
  };
}
