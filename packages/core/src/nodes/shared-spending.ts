import type { Quota } from '../quota.ts';
import type { Bus } from './bus.ts';

/** Begins a shared count: hears by `charge` of what others have spent; what it gives tells them of one more, or of so many. */
export type ShareCount = (
  kind: string,
  charge: (name: string, times: number) => void,
) => (name: string, times?: number) => void;

/** Tells the other nodes what was spent here, and hears what was spent there. */
export interface SharedSpending {
  /** A count under this name is kept on every node: `charge` takes off what others have spent, and what they gave back is less than nothing. */
  readonly add: ShareCount;
  /** A quota that the nodes share. */
  readonly quota: (kind: string, quota: Quota) => Quota;
  close(): void;
}

const SPENT = 'spent';
/** How far nodes may be behind each other: within it each lets through what the others do not know of yet. */
const TELL_MS = 50;

/**
 * Budgets over nodes, as exact as it is quick: whoever spends at several at once gets at most what it sends to the others
 * within a twentieth of a second beyond its budget, and has it taken off afterwards.
 */
export function createSharedSpending(bus: Bus): SharedSpending {
  const charges = new Map<string, (name: string, times: number) => void>();
  let spent = new Map<string, Map<string, number>>();
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    timer = undefined;
    const body = [...spent].map(([kind, byName]) => [kind, [...byName]]);
    spent = new Map();
    bus.publish(SPENT, body);
  }

  bus.subscribe(SPENT, (body) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    for (const [kind, byName] of body as [string, [string, number][]][])
      for (const [name, times] of byName) charges.get(kind)?.(name, times);
  });

  const add: ShareCount = (kind, charge) => {
    charges.set(kind, charge);
    return (name, times = 1) => {
      const byName = spent.get(kind) ?? new Map<string, number>();
      spent.set(kind, byName.set(name, (byName.get(name) ?? 0) + times));
      timer ??= setTimeout(tell, TELL_MS).unref();
    };
  };

  return {
    add,
    quota(kind, quota) {
      const took = add(kind, quota.charge);
      return {
        ...quota,
        take(name) {
          const wait = quota.take(name);
          if (wait === 0) took(name);
          return wait;
        },
      };
    },
    close: () => clearTimeout(timer),
  };
}
