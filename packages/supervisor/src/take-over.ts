import { ParleyError, type TakeOverEnd } from '@parley/protocol';

/** The right of one person elsewhere to type, for a time. */
export interface TakeOver {
  take(wish: TakeOverWish): { lock_id: string; until: string };
  /** Throws unless this lock holds; else its holder is still there. */
  check(lockId: string, holder: string): void;
  /** How it stands with a lock: held, which its holder thereby still wants, or how it ended. */
  fate(lockId: string, holder: string): 'held' | TakeOverEnd;
  release(lockId: string, holder: string, how: 'given_back' | 'lost'): boolean;
  /** The terminal is no longer theirs: the person at the machine types, or the program has ended. */
  end(how: 'person' | 'program_ended'): void;
  readonly held: { holder: string; until: string } | null;
}

interface TakeOverWish {
  holder: string;
  ttlMs: number;
  /** It ends when nothing was heard of its holder for so long; such a lock is prolonged by its id alone. */
  leaseMs?: number | undefined;
  lockId?: string | undefined;
}

/** Who has typed from elsewhere, from when to when, and how that ended. */
export interface TakenOver {
  holder: string;
  from: string;
  to: string;
  ended: TakeOverEnd;
}

interface Lock {
  id: string;
  holder: string;
  from: number;
  endsAt: number;
  until: string;
  leaseMs: number | undefined;
  heardAt: number;
}

export interface TakeOverDeps {
  now: () => number;
  wallClock: () => number;
  newId: () => string;
  /** Hears that a lock was taken, holds longer, or has ended. */
  onChange: () => void;
  onEnd: (ended: TakenOver) => void;
}

/** Keeps the one lock of a terminal; it ends by itself. */
export function createTakeOver({ now, wallClock, newId, onChange, onEnd }: TakeOverDeps): TakeOver {
  let lock: Lock | undefined;
  let last: { id: string; holder: string; how: TakeOverEnd } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const leaseEnd = ({ leaseMs, heardAt }: Lock): number =>
    leaseMs === undefined ? Infinity : heardAt + leaseMs;

  function finish(how: TakeOverEnd): void {
    clearTimeout(timer);
    if (lock === undefined) return;
    const { id, holder, from } = lock;
    lock = undefined;
    last = { id, holder, how };
    const iso = (at: number): string => new Date(at).toISOString();
    onEnd({ holder, from: iso(from), to: iso(wallClock()), ended: how });
    onChange();
  }

  /** The lock that holds now; one whose time is over has ended, also when no timer has said so yet. */
  function standing(): Lock | undefined {
    if (lock === undefined) return undefined;
    if (now() >= lock.endsAt) finish('time');
    else if (now() >= leaseEnd(lock)) finish('lost');
    return lock;
  }

  function watchClock(): void {
    clearTimeout(timer);
    if (lock === undefined) return;
    const inMs = Math.min(lock.endsAt, leaseEnd(lock)) - now();
    timer = setTimeout(() => standing() && watchClock(), Math.max(1, Math.ceil(inMs)));
    timer.unref();
  }

  function own(lockId: string, holder: string): Lock | undefined {
    const held = standing();
    if (held?.id !== lockId || held.holder !== holder) return undefined;
    held.heardAt = now();
    return held;
  }

  return {
    take({ holder, ttlMs, leaseMs, lockId }) {
      const other = standing();
      if (other !== undefined && !mayProlong(other, { holder, leaseMs, lockId }))
        throw new ParleyError('CONFLICT', `${other.holder} types there until ${other.until}`, {
          holder: other.holder,
          until: other.until,
        });
      if (other === undefined && lockId !== undefined) throw lockLost();
      const until = new Date(wallClock() + ttlMs).toISOString();
      const at = now();
      lock = {
        id: other?.id ?? newId(),
        holder,
        from: other?.from ?? wallClock(),
        endsAt: at + ttlMs,
        until,
        leaseMs,
        heardAt: at,
      };
      watchClock();
      onChange();
      return { lock_id: lock.id, until };
    },
    check(lockId, holder) {
      if (own(lockId, holder) === undefined) throw lockLost();
    },
    fate(lockId, holder) {
      if (own(lockId, holder) !== undefined) return 'held';
      return last?.id === lockId && last.holder === holder ? last.how : 'lost';
    },
    release(lockId, holder, how) {
      if (own(lockId, holder) === undefined) return false;
      finish(how);
      return true;
    },
    end: finish,
    get held() {
      const held = standing();
      return held === undefined ? null : { holder: held.holder, until: held.until };
    },
  };
}

/** Two connections of one person are two: where a lock hangs on its connection, only its id makes it hold longer. */
function mayProlong(
  { id, holder: owner, leaseMs: lease }: Lock,
  { holder, leaseMs, lockId }: Omit<TakeOverWish, 'ttlMs'>,
): boolean {
  if (holder !== owner) return false;
  return lockId === undefined ? lease === undefined && leaseMs === undefined : lockId === id;
}

function lockLost(): ParleyError {
  return new ParleyError('CONFLICT', 'this lock does not hold any more: take it again', {
    reason: 'lock_lost',
  });
}
