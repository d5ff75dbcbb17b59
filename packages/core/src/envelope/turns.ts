import { ParleyError } from '@parley/protocol';

export interface TurnLimits {
  concurrent: number;
  waiting: number;
  waitMs: number;
}

interface Waiter {
  by: string;
  begin: () => void;
  refuse: () => void;
}

/** The calls of one name: how many of each sender run, and who waits in the order of coming. */
interface Line {
  running: Map<string, number>;
  waiters: Waiter[];
}

/**
 * Lets so many calls of one name run at once; a few more wait for a while, the rest is told to come back. Senders share
 * both: a turn goes to the one with the fewest, and who has fewer in line than another takes the last place of that one.
 */
export function createTurns({ concurrent, waiting, waitMs }: TurnLimits) {
  const lines = new Map<string, Line>();

  return async function inTurn<T>(name: string, by: string, run: () => Promise<T>): Promise<T> {
    let line = lines.get(name);
    if (line === undefined) lines.set(name, (line = { running: new Map(), waiters: [] }));
    if (sum(line.running) >= concurrent) await wait(line, by);
    else add(line.running, by, 1);
    try {
      return await run();
    } finally {
      add(line.running, by, -1);
      // It goes straight to the next in line: nobody can slip in between.
      next(line)?.begin();
      if (line.running.size === 0 && line.waiters.length === 0) lines.delete(name);
    }
  };

  function wait(line: Line, by: string): Promise<void> {
    const { waiters } = line;
    if (waiters.length >= waiting) {
      const last = waiters.findLast((waiter) => count(waiters, waiter.by) > count(waiters, by) + 1);
      if (last === undefined) throw tooMany();
      last.refuse();
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        waiters.splice(waiters.indexOf(waiter), 1);
      };
      const waiter: Waiter = {
        by,
        begin() {
          leave();
          add(line.running, by, 1);
          resolve();
        },
        refuse() {
          leave();
          reject(tooMany());
        },
      };
      const timer = setTimeout(waiter.refuse, waitMs);
      waiters.push(waiter);
    });
  }

  function tooMany(): ParleyError {
    return new ParleyError('RATE_LIMITED', `more than ${concurrent} calls of this action run at once`, {
      retry_after_ms: 1_000,
    });
  }
}

/** The first in line of those whose sender has the fewest calls running. */
function next({ running, waiters }: Line): Waiter | undefined {
  return waiters.toSorted((a, b) => (running.get(a.by) ?? 0) - (running.get(b.by) ?? 0))[0];
}

function count(waiters: readonly Waiter[], by: string): number {
  return waiters.filter((waiter) => waiter.by === by).length;
}

function sum(running: ReadonlyMap<string, number>): number {
  let all = 0;
  for (const some of running.values()) all += some;
  return all;
}

function add(running: Map<string, number>, by: string, more: number): void {
  const left = (running.get(by) ?? 0) + more;
  if (left > 0) running.set(by, left);
  else running.delete(by);
}
