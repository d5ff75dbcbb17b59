import type { Patience } from '../agents/state.ts';
import type { StoredSession } from './stored-session.ts';

/** What the connections tell of a session: it has one, it lost the one on which it took commands, or nothing. */
export type Connection = 'connected' | { lost: number } | undefined;

/** All that tells whether a session is still there. */
export interface SessionSigns {
  session: StoredSession | undefined;
  connection: Connection;
  /** Nothing that was heard before this moment is held against it: it did something then, or the hub came up. */
  after: number;
}

/**
 * Since when a session is gone; undefined while it may well be there, and where nobody can tell: who is in nobody's
 * hands and holds no connection owes us no sign of life, and comes back for its answer when it likes.
 */
export function goneSince(
  { session, connection, after }: SessionSigns,
  { returnMs }: Pick<Patience, 'returnMs'>,
  now: number,
): number | undefined {
  if (connection === 'connected') return undefined;
  const heard = session === undefined ? -Infinity : Date.parse(session.last_heartbeat_at);
  if (connection !== undefined && connection.lost >= heard) return connection.lost;
  // Whoever never beat and held no connection was never heard by us: there is nothing to miss.
  if (session === undefined) return undefined;
  if (session.status === 'offline' && heard >= after) return heard;
  if (session.management_mode !== 'managed') return undefined;
  // One that somebody has in hand keeps a connection: without it, it is expected back.
  const silentAt = Math.max(heard, after) + returnMs;
  return now >= silentAt ? silentAt : undefined;
}
