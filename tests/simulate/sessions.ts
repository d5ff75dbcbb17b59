import type { Delivery, Door, DoorRequest, Messenger, Notice, WakeTarget } from '@parley/core';

import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The world outside of the hub: programs that are woken, and the way to people; both outlive any hub. */
export interface Outside {
  /** How often each wake was given to its session. */
  givenByWake: ReadonlyMap<string, number>;
  /** What went out to people, in order. */
  sent: readonly Notice[];
  /** As one node sees it: a node that is over hears nothing more. */
  doors(node: { isOver: boolean }): Door[];
  messenger(node: { isOver: boolean }): Messenger;
}

/** Whoever was woken is told to `onWoken`. */
export function createOutside(
  time: VirtualTime,
  random: Random,
  onWoken: (target: WakeTarget, request: DoorRequest) => void,
): Outside {
  const givenByWake = new Map<string, number>();
  const sent: Notice[] = [];
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void time.after(ms, resolve));
  const never = new Promise<never>(() => {});

  /** Gives the prompt, and says so after a while: the hub may be gone by then. */
  async function give(
    node: { isOver: boolean },
    target: WakeTarget,
    request: DoorRequest,
  ): Promise<Delivery> {
    const { trigger_id } = request;
    const delivered = { came: 'delivered', proof: 'runtime_status' } as const;
    await wait(random.between(10, 2_000));
    // What was still on its way goes down with the connection.
    if (node.isOver) return never;
    givenByWake.set(trigger_id, (givenByWake.get(trigger_id) ?? 0) + 1);
    onWoken(target, request);
    await wait(random.between(10, 3_000));
    const kind = random.next();
    if (kind < 0.15) return { came: 'queued', arrives: wait(60_000).then(() => delivered) };
    if (kind < 0.35) return { ...delivered, ended: wait(30_000).then(() => ({ ok: true, detail: '' })) };
    return delivered;
  }

  return {
    givenByWake,
    sent,
    doors: (node) => [
      {
        name: 'supervisor',
        serves: () => true,
        look: async () => (random.is(0.15) ? { can: 'later', reason: 'at_work' } : { can: 'now' }),
        async deliver(target, request, signal) {
          // A session that has it in its own record is not told twice, where the hub says that it may be so.
          if (request.again && givenByWake.has(request.trigger_id))
            return { came: 'delivered', proof: 'runtime_record' };
          const before = random.next();
          if (before < 0.1) return { came: 'failed', reason: 'the terminal is gone' };
          if (before < 0.2) return { came: 'deferred', reason: 'human_input_busy' };
          if (signal.aborted) return { came: 'failed', reason: 'too late' };
          const delivery = await give(node, target, request);
          return node.isOver ? never : delivery;
        },
      },
    ],
    messenger: (node) => ({
      pushKey: '',
      refusal: () => Promise.resolve(undefined),
      async send(_channel, notice) {
        await wait(random.between(5, 500));
        const fails = random.is(0.1);
        if (!fails) sent.push(notice);
        await wait(random.between(5, 500));
        if (node.isOver) return never;
        return fails ? { sent: false, why: 'the network is down' } : { sent: true };
      },
    }),
  };
}
