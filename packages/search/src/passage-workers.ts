import type { ModelRunner } from './model-runner.ts';
import { ModelMissing } from './model-port.ts';

export interface PassageWorkers {
  /** A vector for each text, null for one that has none; undefined when there are none any more. */
  embed(texts: readonly string[]): Promise<(Float32Array | null)[] | undefined>;
  /** Answers whoever waits that there will be none. */
  end(): void;
  close(): Promise<void>;
}

/** Texts that go to a process together. */
interface Job {
  texts: string[];
  /** How often it was lost with a process. */
  losses: number;
  resolve: (made: (Float32Array | null)[] | undefined) => void;
}

/** So many letters go to a process at once: more would only hold up whoever wants to end. */
const LETTERS_AT_ONCE = 4_000;
/** A text that a process did not survive so often gets no vector. */
const MOST_LOSSES = 3;
/** Another process is worth its start when so many jobs wait. */
const MANY = 8;

/** Shares passages out among processes of the model. */
export function createPassageWorkers({
  runners,
  giveUp,
}: {
  runners: readonly ModelRunner[];
  giveUp: (error: ModelMissing) => void;
}): PassageWorkers {
  const jobs: Job[] = [];
  const working = new Map<ModelRunner, Promise<void>>();
  const closing = new AbortController();

  function start(): void {
    for (const [i, runner] of runners.entries())
      if (!working.has(runner) && jobs.length > i * MANY)
        working.set(
          runner,
          work(runner).finally(() => working.delete(runner)),
        );
  }

  async function work(runner: ModelRunner): Promise<void> {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      if (runner.waitMs > 0) {
        jobs.unshift(job);
        await pause(runner.waitMs);
      } else await carryOut(runner, job);
    }
  }

  async function carryOut(runner: ModelRunner, job: Job): Promise<void> {
    try {
      job.resolve(await runner.call<Float32Array | null>('embed', job.texts));
    } catch (error) {
      if (closing.signal.aborted) return job.resolve(undefined);
      if (error instanceof ModelMissing) {
        job.resolve(undefined);
        return giveUp(error);
      }
      job.losses++;
      if (job.texts.length > 1) splitUp(job);
      else if (job.losses >= MOST_LOSSES) job.resolve([null]);
      else jobs.unshift(job);
    }
  }

  /** One of the texts may be what a process does not survive: each is tried by itself. */
  function splitUp({ texts, losses, resolve }: Job): void {
    const parts = texts.map((text) => enqueue([text], losses, 'first'));
    void Promise.all(parts).then((made) =>
      resolve(made.every((one) => one !== undefined) ? made.flat() : undefined),
    );
  }

  function enqueue(
    texts: string[],
    losses = 0,
    where?: 'first',
  ): Promise<(Float32Array | null)[] | undefined> {
    return new Promise((resolve) => {
      const job = { texts, losses, resolve };
      if (where === 'first') jobs.unshift(job);
      else jobs.push(job);
    });
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      closing.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  function end(): void {
    for (const { resolve } of jobs.splice(0)) resolve(undefined);
  }

  return {
    async embed(texts) {
      if (closing.signal.aborted) return undefined;
      const order = texts.map((_, i) => i).toSorted((a, b) => texts[a]!.length - texts[b]!.length);
      const batches: number[][] = [];
      let letters = Infinity;
      for (const i of order) {
        letters += texts[i]!.length;
        if (letters > LETTERS_AT_ONCE) {
          batches.push([]);
          letters = texts[i]!.length;
        }
        batches.at(-1)?.push(i);
      }
      const waiting = batches.map((batch) => enqueue(batch.map((i) => texts[i]!)));
      start();
      const made: (Float32Array | null)[] = [];
      for (const [b, vectors] of (await Promise.all(waiting)).entries()) {
        if (vectors === undefined) return undefined;
        for (const [n, i] of batches[b]!.entries()) made[i] = vectors[n] ?? null;
      }
      return made;
    },
    end,
    async close() {
      closing.abort();
      end();
      await Promise.all([...runners.map((runner) => runner.close()), ...working.values()]);
    },
  };
}
