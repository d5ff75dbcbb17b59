import {
  type Claims,
  isTakeOverEnd,
  type ScreenWord,
  TAKE_OVER_WORDS,
  type TakeOverEnd,
} from '@parley/protocol';

import type { TerminalLine } from './line.ts';

/** Whether one viewer has taken a terminal over; the lock's id never leaves the hub. */
export interface Hold {
  take(forMs: number, force: { reason: string } | undefined): Promise<void>;
  /** Passes keys on, in order; without a lock they go nowhere. */
  type(keys: string): void;
  giveBack(): void;
  /** The viewer is gone. */
  lost(): void;
  /** What a look says so that the lock is known to be wanted. */
  sign(): { lock_id?: string };
  /** How it stands with the lock, by the word of the session. */
  heard(lockId: string | undefined, yours: string | undefined): void;
}

export interface HoldDeps {
  claims: Claims;
  line: TerminalLine;
  say: (word: ScreenWord) => void;
  /** Looks anew who the viewer is; throws for one who was signed out, however short a time ago. */
  identify: () => Promise<unknown>;
}

/** A lock whose holder was not heard of for so long ends by itself, wherever this hub is by then. */
const LEASE_MS = 15_000;
/** How many characters wait for a session that is slow; more are refused. */
const MOST_WAITING = 65_536;
const KEYS_CHARS = 4_096;

/** Takes, keeps and gives back the lock of one connection. */
export function createHold({ claims, line, say, identify }: HoldDeps): Hold {
  let lockId: string | undefined;
  let waiting = '';
  let isTyping = false;
  let isTaking = false;
  let isGone = false;

  function over(ended: TakeOverEnd): void {
    if (lockId === undefined) return;
    lockId = undefined;
    waiting = '';
    say({ type: 'over', ended, message: TAKE_OVER_WORDS[ended] });
  }

  function release(lost: boolean): void {
    if (lockId === undefined) return;
    void line.aside('terminal_unlock', { lock_id: lockId, lost }).catch(() => {});
    over(lost ? 'lost' : 'given_back');
  }

  /** One message at a time, so that keys arrive in the order in which they were typed. */
  async function send(): Promise<void> {
    isTyping = true;
    while (waiting !== '' && lockId !== undefined) {
      // Not through the midst of a character.
      const end = /[\uD800-\uDBFF]$/.test(waiting.slice(0, KEYS_CHARS)) ? KEYS_CHARS - 1 : KEYS_CHARS;
      const keys = waiting.slice(0, end);
      waiting = waiting.slice(end);
      // Whoever was signed out a moment ago types nothing more.
      await identify();
      const typed = await line.aside('terminal_type', { lock_id: lockId, keys });
      if (typed.is === 'answered') continue;
      waiting = '';
      if (typed.is === 'away') over('lost');
      // Why it ended is told with the next look.
      else if (typed.code !== 'CONFLICT') say({ type: 'refused', code: typed.code, message: typed.message });
    }
    isTyping = false;
  }

  return {
    async take(forMs, force) {
      if (isTaking) return;
      const { agent_id: operator, role } = claims;
      if (role !== 'operator')
        return say({
          type: 'refused',
          code: 'INSUFFICIENT_AUTHORITY',
          message: 'only an operator may take over a terminal',
        });
      isTaking = true;
      await identify();
      const taken = await line.ask('terminal_lock', {
        ttl_ms: forMs,
        lease_ms: LEASE_MS,
        ...(lockId === undefined ? {} : { lock_id: lockId }),
        ...(force === undefined ? {} : { force: true, operator, audit: force }),
      });
      isTaking = false;
      if (taken.is !== 'answered') {
        const code = taken.is === 'away' ? 'UNAVAILABLE' : taken.code;
        return say({ type: 'refused', code, message: taken.message });
      }
      const { lock_id, until } = taken.answer;
      lockId = lock_id;
      if (isGone) return release(true);
      say({ type: 'taken', until });
    },
    type(keys) {
      if (lockId === undefined) return;
      if (waiting.length + keys.length > MOST_WAITING)
        return say({
          type: 'refused',
          code: 'UNAVAILABLE',
          message: 'the session does not take so much at once',
        });
      waiting += keys;
      if (isTyping) return;
      void send().catch(() => {
        isTyping = false;
        release(true);
      });
    },
    giveBack: () => release(false),
    lost() {
      isGone = true;
      release(true);
    },
    sign: () => (lockId === undefined ? {} : { lock_id: lockId }),
    heard(named, yours) {
      if (named === lockId && isTakeOverEnd(yours)) over(yours);
    },
  };
}
