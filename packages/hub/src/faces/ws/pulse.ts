import type { Claims } from '@parley/protocol';

import { TokenRefused } from '../../auth/token-refused.ts';
import { CLOSE } from './close-codes.ts';
import type { SocketLink } from './socket-link.ts';

/** The beat of all sockets: asks each whether it lives, and whether its token still holds. */
export interface Pulse {
  enter(link: SocketLink): void;
  leave(link: SocketLink): void;
  links(): IterableIterator<SocketLink>;
  readonly size: number;
  close(): void;
}

export interface PulseOptions {
  pingMs: number;
  recheckMs: number;
  /** Throws when claims no longer hold. */
  recheck: (claims: Claims) => void;
  now: () => number;
  monotonic: () => number;
}

/** The sockets are asked in turns, so that many of them never hold the event loop. */
const TURNS = 16;

/** How long after its expiry an open connection may live, whatever tolerance for clocks new ones enjoy. */
const AFTER_EXPIRY_MS = 20_000;

export function createPulse({ pingMs, recheckMs, recheck, now, monotonic }: PulseOptions): Pulse {
  const turns = Array.from({ length: TURNS }, () => new Set<SocketLink>());
  const turnByLink = new Map<SocketLink, Set<SocketLink>>();
  let entered = 0;
  let turn = 0;
  let lastAt = monotonic();
  let graceUntil = 0;

  const beats = setInterval(
    () => {
      const at = monotonic();
      // After a pause of the whole process the answers are still unread: everyone is asked afresh, nobody is judged.
      if (at - lastAt > pingMs / TURNS + pingMs / 2) graceUntil = at + pingMs;
      lastAt = at;
      for (const link of turns[turn++ % TURNS] ?? []) link.beat(at > graceUntil, at);
    },
    Math.max(1, pingMs / TURNS),
  );
  beats.unref();

  function whyEnded(caller: Claims): string | undefined {
    try {
      recheck(caller);
    } catch (error) {
      return error instanceof TokenRefused ? error.reason : 'it cannot be checked';
    }
    return caller.exp * 1_000 + AFTER_EXPIRY_MS > now() ? undefined : 'expired';
  }

  const rechecks = setInterval(() => {
    for (const link of turnByLink.keys()) {
      const why = whyEnded(link.caller);
      if (why !== undefined) link.close(CLOSE.unauthorized, `the token is no longer good: ${why}`);
    }
  }, recheckMs);
  rechecks.unref();

  return {
    enter(link) {
      const set = turns[entered++ % TURNS];
      if (set === undefined) return;
      set.add(link);
      turnByLink.set(link, set);
    },
    leave(link) {
      turnByLink.get(link)?.delete(link);
      turnByLink.delete(link);
    },
    links: () => turnByLink.keys(),
    get size() {
      return turnByLink.size;
    },
    close() {
      clearInterval(beats);
      clearInterval(rechecks);
    },
  };
}
