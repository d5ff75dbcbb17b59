import { EnvelopeRefusal } from './refusal.ts';

export interface TurnLimits {
  concurrent: number;
  waiting: number;
  waitMs: number;
}

/** Lets so many calls of one name run at once; a few more wait for a while, the rest is told to come back. */
export function createTurns({ concurrent, waiting, waitMs }: TurnLimits) {
  const queues = new Map<string, { running: number; waiters: Set<() => void> }>();

  return async function inTurn<T>(name: string, run: () => Promise<T>): Promise<T> {
    let queue = queues.get(name);
    if (queue === undefined) queues.set(name, (queue = { running: 0, waiters: new Set() }));
    if (queue.running < concurrent) queue.running += 1;
    else await wait(queue.waiters);
    try {
      return await run();
    } finally {
      // A turn goes straight to the next in line: nobody can slip in between.
      const [next] = queue.waiters;
      if (next !== undefined) next();
      else queue.running -= 1;
      if (queue.running === 0) queues.delete(name);
    }
  };

  function wait(waiters: Set<() => void>): Promise<void> {
    if (waiters.size >= waiting) throw tooMany();
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        clearTimeout(timer);
        waiters.delete(turn);
        resolve();
      };
      const timer = setTimeout(() => {
        waiters.delete(turn);
        reject(tooMany());
      }, waitMs);
      waiters.add(turn);
    });
  }

  function tooMany(): EnvelopeRefusal {
    return new EnvelopeRefusal(
      'RATE_LIMIT_EXCEEDED',
      `more than ${concurrent} calls of this action run at once`,
      { retry_after_ms: 1_000 },
    );
  }
}
