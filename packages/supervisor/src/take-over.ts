import { ParleyError } from '@parley/protocol';

/** The right of one person elsewhere to type, for a time. */
export interface TakeOver {
  take(holder: string, ttlMs: number): { lock_id: string; until: string };
  /** Throws unless this lock holds. */
  check(lockId: string, holder: string): void;
  release(lockId: string, holder: string): boolean;
  /** The person at the machine types: the terminal is theirs again. */
  end(): void;
  readonly held: { holder: string; until: string } | null;
}

interface Lock {
  id: string;
  holder: string;
  endsAt: number;
  until: string;
}

/** Keeps the one lock of a terminal; it ends by itself. */
export function createTakeOver(deps: {
  now: () => number;
  wallClock: () => number;
  newId: () => string;
}): TakeOver {
  const { now, wallClock, newId } = deps;
  let lock: Lock | undefined;

  const standing = (): Lock | undefined => (lock !== undefined && now() < lock.endsAt ? lock : undefined);
  const isHeld = (lockId: string, holder: string): boolean =>
    standing()?.id === lockId && standing()?.holder === holder;

  return {
    take(holder, ttlMs) {
      const other = standing();
      if (other !== undefined && other.holder !== holder)
        throw new ParleyError('CONFLICT', `${other.holder} types there until ${other.until}`, {
          holder: other.holder,
          until: other.until,
        });
      const until = new Date(wallClock() + ttlMs).toISOString();
      lock = { id: other?.id ?? newId(), holder, endsAt: now() + ttlMs, until };
      return { lock_id: lock.id, until };
    },
    check(lockId, holder) {
      if (!isHeld(lockId, holder))
        throw new ParleyError('CONFLICT', 'this lock does not hold any more: take it again', {
          reason: 'lock_lost',
        });
    },
    release(lockId, holder) {
      if (!isHeld(lockId, holder)) return false;
      lock = undefined;
      return true;
    },
    end() {
      lock = undefined;
    },
    get held() {
      const held = standing();
      return held === undefined ? null : { holder: held.holder, until: held.until };
    },
  };
}
