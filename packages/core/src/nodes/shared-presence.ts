import type { Clock } from '../clock.ts';
import type { Presence, PresenceBoard } from '../participation/presence.ts';
import type { Nodes } from './nodes.ts';

const PART = 'presence';

type Connected = Parameters<PresenceBoard['connect']>[0];
type Update =
  | { is: 'set'; presence: Presence; ttlMs: number }
  | { is: 'open'; id: number; name: Connected; since: number }
  | { is: 'shut'; id: number };

/** The board as all nodes see it: who is present at one is present at all. */
export function sharePresence(
  board: PresenceBoard,
  { mirror }: Pick<Nodes, 'mirror'>,
  clock: Pick<Clock, 'now'>,
): PresenceBoard {
  const open = new Map<number, { name: Connected; since: number }>();
  const shutById = new Map<string, Map<number, () => void>>();
  let count = 0;

  function forget(node: string): void {
    for (const shut of shutById.get(node)?.values() ?? []) shut();
    shutById.delete(node);
  }

  mirror.add(PART, {
    // What somebody says of itself fades within seconds, and is said again.
    snapshot: () => [...open].map(([id, own]): Update => ({ is: 'open', id, ...own })),
    apply(node, body) {
      // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
      const update = body as Update;
      if (update.is === 'set') {
        board.set(update.presence, update.ttlMs);
        return;
      }
      const own = shutById.get(node) ?? new Map<number, () => void>();
      shutById.set(node, own);
      own.get(update.id)?.();
      own.delete(update.id);
      if (update.is === 'open') own.set(update.id, board.connect(update.name, update.since));
    },
    forget,
  });

  return {
    ...board,
    settled: () => mirror.settled(),
    set(presence, ttlMs) {
      const { since, before } = board.set(presence, ttlMs);
      // All nodes say the same of when it began.
      mirror.tell(PART, { is: 'set', presence: { ...presence, since }, ttlMs } satisfies Update);
      return { since, before };
    },
    connect(name) {
      const id = ++count;
      const since = clock.now();
      const shut = board.connect(name, since);
      open.set(id, { name, since });
      mirror.tell(PART, { is: 'open', id, name, since } satisfies Update);
      return () => {
        shut();
        open.delete(id);
        mirror.tell(PART, { is: 'shut', id } satisfies Update);
      };
    },
  };
}
