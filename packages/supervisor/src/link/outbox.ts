import type { Agent } from '@parley/client';

import { type Judge, retry } from './retry.ts';

/** One thing to tell the hub; it may be tried several times. */
export type Delivery = (agent: Agent) => Promise<unknown>;

/** What waits for the hub, in order: what must be told, then events, then how things stand. */
export interface Outbox {
  /** Something that must not be lost while the session lives. */
  must(delivery: Delivery): void;
  /** Something that may be lost when the hub is away for long. */
  may(delivery: Delivery): void;
  /** Look again whether there is something to say. */
  wake(): void;
  /** Tells everything as it comes until it is closed and empty, or closed and in vain. */
  run(agent: Agent): Promise<void>;
}

export interface OutboxDeps {
  /** What is to be told when nothing else waits; undefined when all is said. */
  rest: () => Delivery | undefined;
  /** Told in the place of what was lost. */
  onLost: (count: number) => Delivery;
  /** Something may yet come, though the box is closed. */
  isExpecting: () => boolean;
  judge: Judge;
  closing: AbortSignal;
}

/** What is kept for a hub that is away; of more the oldest are lost, and counted. */
const MOST_WAITING = 200;

/** One delivery at a time, so that what the hub hears is in order. */
export function createOutbox({ rest, onLost, isExpecting, judge, closing }: OutboxDeps): Outbox {
  const musts: Delivery[] = [];
  const mays: Delivery[] = [];
  let lost = 0;
  let wake = (): void => {};

  const next = (): Delivery | undefined => {
    const first = musts.shift();
    if (first !== undefined) return first;
    if (lost === 0) return mays.shift() ?? rest();
    const reported = onLost(lost);
    lost = 0;
    return reported;
  };

  return {
    must(delivery) {
      musts.push(delivery);
      wake();
    },
    may(delivery) {
      if (mays.push(delivery) > MOST_WAITING) {
        mays.shift();
        lost += 1;
      }
      wake();
    },
    wake: () => wake(),
    async run(agent) {
      for (;;) {
        const delivery = next();
        if (delivery !== undefined) {
          const done = await retry(async () => (await delivery(agent), true), judge, closing);
          if (done !== true && closing.aborted) return;
        } else if (closing.aborted && !isExpecting()) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
