import type { Delivery, Door, DoorName, DoorRequest, Look, Nodes, TurnEnd, WakeTarget } from '@parley/core';
import { errorText, ParleyError } from '@parley/protocol';

import type { RuntimeProfile } from '../wake/profile.ts';

/** What another node says of an agent whose programs are on its machine. */
interface SharedProfile extends Pick<RuntimeProfile, 'workspace_id' | 'agent_id' | 'family' | 'quiet'> {
  doors: DoorName[];
}

interface AskedLook {
  door: DoorName;
  target: WakeTarget;
}
interface AskedDelivery extends AskedLook {
  doorRequest: DoorRequest;
}
type Sent = { came: 'queued'; by: string } | (Exclude<Delivery, { came: 'queued' }> & { by?: string });

const PART = 'doors';
const LOOK = 'door.look';
const DELIVER = 'door.deliver';
const LATER = 'door.later';
/** The version of a program is asked for within it. */
const LOOK_MS = 30_000;
/** A turn ends by itself. */
const LONGEST_MS = 24 * 3_600_000;
/** So many of the last deliveries are remembered. */
const KEPT = 1_000;

/** The doors that open only on the machine of the node. */
const LOCAL: readonly DoorName[] = [
  'codex_socket',
  'codex_resume',
  'codex_new',
  'claude_resume',
  'claude_new',
];

/**
 * Opens the doors of other machines through their nodes: whoever wakes finds those of every node beside its own. A node
 * carries each wake through a door of its machine once, whichever node asks for it: the one that asked may have died.
 */
export function shareDoors(
  own: ReadonlyMap<DoorName, Door>,
  profiles: readonly RuntimeProfile[],
  { calls, mirror }: Pick<Nodes, 'calls' | 'mirror'>,
  /** Another node has a door to this agent; calls upon it may have come before that was known. */
  onDoor: (who: Pick<SharedProfile, 'workspace_id' | 'agent_id'>) => void,
): { doors: ReadonlyMap<DoorName, Door>; profiles: readonly SharedProfile[] } {
  const all: SharedProfile[] = profiles.map(({ workspace_id, agent_id, family, quiet }) => {
    const target = { workspace_id, agent_id, family, session: undefined, native_id: undefined };
    const about: WakeTarget = { ...target, managed: false, reach: undefined, commands: [] };
    const doors = LOCAL.filter((name) => own.get(name)?.serves(about) === true);
    return { workspace_id, agent_id, family, quiet, doors };
  });
  const mine = [...all];
  const profilesByNode = new Map<string, SharedProfile[]>();
  const doneById = new Map<string, Promise<Delivery>>();

  mirror.add(PART, {
    snapshot: () => mine,
    apply(node, update) {
      // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
      const profile = update as SharedProfile;
      profilesByNode.set(node, [...(profilesByNode.get(node) ?? []), profile]);
      gather();
      onDoor(profile);
    },
    forget(node) {
      profilesByNode.delete(node);
      gather();
    },
  });

  function gather(): void {
    all.splice(0, all.length, ...mine, ...[...profilesByNode.values()].flat());
  }

  function once(
    name: DoorName,
    target: WakeTarget,
    asked: DoorRequest,
    signal: AbortSignal,
  ): Promise<Delivery> {
    const id = `${name} ${asked.trigger_id}`;
    const known = doneById.get(id);
    if (known !== undefined) return known;
    const door = own.get(name);
    if (door === undefined) throw new ParleyError('NOT_FOUND', `${name} is no door of this node`);
    const doing = door.deliver(target, asked, signal);
    doneById.set(id, doing);
    const [oldest] = doneById.keys();
    if (doneById.size > KEPT && oldest !== undefined) doneById.delete(oldest);
    // What has not come may be tried again.
    const forget = (): void => void doneById.delete(id);
    doing.then(({ came }) => (came === 'delivered' || came === 'queued' ? undefined : forget()), forget);
    return doing;
  }

  calls.answer(LOOK, (body) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { door, target } = body as AskedLook;
    return own.get(door)?.look(target) ?? { can: 'no', reason: 'not_here' };
  });
  calls.answer(DELIVER, async (body, { signal }): Promise<Sent> => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { door, target, doorRequest } = body as AskedDelivery;
    const by = `${door} ${doorRequest.trigger_id}`;
    const delivery = await once(door, target, doorRequest, signal);
    if (delivery.came === 'queued') return { came: 'queued', by };
    if (delivery.came !== 'delivered') return delivery;
    const { ended, ...rest } = delivery;
    return ended === undefined ? rest : { ...rest, by };
  });
  calls.answer(LATER, async (body) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const delivery = await doneById.get(body as string);
    if (delivery?.came === 'queued') return delivery.arrives;
    return delivery?.came === 'delivered' ? delivery.ended : undefined;
  });

  const nodeOf = ({ workspace_id, agent_id }: WakeTarget, name: DoorName): string | undefined =>
    [...profilesByNode].find(([, theirs]) =>
      theirs.some(
        (one) => one.workspace_id === workspace_id && one.agent_id === agent_id && one.doors.includes(name),
      ),
    )?.[0];

  function received(node: string, sent: Sent): Delivery {
    const later = (): Promise<unknown> => calls.ask(node, LATER, sent.by, { timeoutMs: LONGEST_MS });
    if (sent.came === 'queued') {
      const lost = (error: unknown) => ({
        came: 'failed' as const,
        reason: errorText(error),
        mayHaveCome: true,
      });
      // It is what the door of that node says.
      return {
        came: 'queued',
        // It is what the door of that node says.
        arrives: later().then((one) => one as Delivery & { came: 'delivered' }, lost),
      };
    }
    const { by, ...delivery } = sent;
    if (by === undefined || delivery.came !== 'delivered') return delivery;
    const lost = (error: unknown): TurnEnd => ({
      ok: false,
      detail: `its node is gone: ${errorText(error)}`,
    });
    // It is what the door of that node says.
    return { ...delivery, ended: later().then((one) => one as TurnEnd, lost) };
  }

  function shared(door: Door): Door {
    const { name } = door;
    return {
      ...door,
      serves: (target) => door.serves(target) || nodeOf(target, name) !== undefined,
      async look(target): Promise<Look> {
        const node = door.serves(target) ? undefined : nodeOf(target, name);
        if (node === undefined) return door.look(target);
        // It is what the door of that node says.
        return (await calls.ask(node, LOOK, { door: name, target }, { timeoutMs: LOOK_MS })) as Look;
      },
      async deliver(target, doorRequest, signal) {
        const node = door.serves(target) ? undefined : nodeOf(target, name);
        if (node === undefined) return once(name, target, doorRequest, signal);
        const asked: AskedDelivery = { door: name, target, doorRequest };
        try {
          const answer = await calls.ask(node, DELIVER, asked, { timeoutMs: LONGEST_MS, signal });
          // It is what the door of that node says.
          return received(node, answer as Sent);
        } catch (error) {
          return { came: 'failed', reason: errorText(error), mayHaveCome: true };
        }
      },
    };
  }

  const doors = new Map([...own].map(([name, door]) => [name, LOCAL.includes(name) ? shared(door) : door]));
  return { doors, profiles: all };
}
