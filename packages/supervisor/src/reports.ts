import { randomUUID } from 'node:crypto';

import type { InputOf } from '@parley/protocol';

export type Report = Pick<InputOf<'report_event'>, 'event_type' | 'data'>;

/** What is yet to be told to the hub, in order; it waits while the hub is away. */
export interface Reports {
  add(report: Report): void;
  /** Tells what waits; what cannot be told now stays. */
  flush(tell: (input: InputOf<'report_event'>) => Promise<unknown>): Promise<void>;
}

/** Of more the oldest are lost. */
const MOST = 50;

/** Keeps reports until they are told, each once. */
export function createReports(): Reports {
  const waiting: InputOf<'report_event'>[] = [];
  let telling = Promise.resolve();

  return {
    add(report) {
      waiting.push({ ...report, idempotency_key: randomUUID() });
      if (waiting.length > MOST) waiting.shift();
    },
    flush(tell) {
      telling = telling.then(async () => {
        for (let [first] = waiting; first !== undefined; [first] = waiting) {
          const report = first;
          const isTold = await tell(report).then(
            () => true,
            () => false,
          );
          if (!isTold) return;
          if (waiting[0] === report) waiting.shift();
        }
      });
      return telling;
    },
  };
}
