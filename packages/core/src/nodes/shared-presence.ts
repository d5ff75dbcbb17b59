import type { Presence, PresenceBoard } from '../participation/presence.ts';
import type { Nodes } from './nodes.ts';

const PART = 'presence';

type Connected = Parameters<PresenceBoard['connect']>[0];
type Update =
  | { is: 'set'; presence: Omit<Presence, 'since'>; ttlMs: number }
  | { is: 'open'; id: number; name: Connected }
  | { is: 'shut'; id: number };

/** The board as all nodes see it: who is present at one is present at all. */
export function sharePresence(board: PresenceBoard, { mirror }: Nodes): PresenceBoard {
  const open = new Map<number, Connected>();
  const shutById = new Map<string, Map<number, () => void>>();
  let count = 0;

  function forget(node: string): void {
    for (const shut of shutById.get(node)?.values() ?? []) shut();
    shutById.delete(node);
  }

  mirror.add(PART, {
    // What somebody says of itself fades within seconds, and is said again.
    snapshot: () => [...open].map(([id, name]): Update => ({ is: 'open', id, name })),
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
      if (update.is === 'open') own.set(update.id, board.connect(update.name));
    },
    forget,
  });

  return {
    ...board,
    set(presence, ttlMs) {
      mirror.tell(PART, { is: 'set', presence, ttlMs } satisfies Update);
      return board.set(presence, ttlMs);
    },
    connect(name) {
      const id = ++count;
      const shut = board.connect(name);
      open.set(id, name);
      mirror.tell(PART, { is: 'open', id, name } satisfies Update);
      return () => {
        shut();
        open.delete(id);
        mirror.tell(PART, { is: 'shut', id } satisfies Update);
      };
    },
  };
}
