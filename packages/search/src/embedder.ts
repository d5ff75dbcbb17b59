import { ThreadPort } from './thread-port.ts';

/** Makes vectors in a thread of its own, which is there only while it is needed. */
export interface Embedder {
  /** A question goes before the passages that wait; undefined: there is no model, or it does not know the language. */
  embed(text: string, urgency: 'question' | 'passage'): Promise<Float32Array | undefined | null>;
  /** Why there is no model; undefined while there is no reason to think so. */
  readonly fault: string | undefined;
  close(): Promise<void>;
}

interface Job {
  text: string;
  resolve: (vector: Float32Array | null | undefined) => void;
}

/** Starts the thread with the first text and ends it after a time without any. */
export function createEmbedder(idleMs: number, onFault: (error: unknown) => void): Embedder {
  const questions: Job[] = [];
  const passages: Job[] = [];
  let port: ThreadPort | undefined;
  let fault: string | undefined;
  let idle: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    clearTimeout(idle);
    for (let job = questions.shift() ?? passages.shift(); job; job = questions.shift() ?? passages.shift()) {
      try {
        port ??= new ThreadPort({ role: 'model' });
        job.resolve(await port.call<Float32Array | null>('embed', job.text));
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
        onFault(new Error(`documents are found by their words alone until the hub starts anew: ${fault}`));
        job.resolve(undefined);
        for (const left of [...questions.splice(0), ...passages.splice(0)]) left.resolve(undefined);
      }
    }
    working = undefined;
    idle = setTimeout(() => void rest(), idleMs).unref();
  }

  async function rest(): Promise<void> {
    clearTimeout(idle);
    const old = port;
    port = undefined;
    await old?.close();
  }

  return {
    get fault() {
      return fault;
    },
    embed(text, urgency) {
      if (fault !== undefined) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        (urgency === 'question' ? questions : passages).push({ text, resolve });
        working ??= work();
      });
    },
    async close() {
      fault ??= 'the search is closed';
      for (const left of [...questions.splice(0), ...passages.splice(0)]) left.resolve(undefined);
      await working;
      await rest();
    },
  };
}
