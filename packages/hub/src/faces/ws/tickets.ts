import { randomBytes } from 'node:crypto';

import { type Claims, ParleyError } from '@parley/protocol';

/** Words that open one connection, once and soon: what a browser may put into a URL. */
export interface Tickets {
  issue(claims: Claims): { ticket: string; expires_in_ms: number; expires_at: string };
  /** The claims behind a ticket, which is thereby used up. */
  redeem(ticket: string): Claims | undefined;
}

const MAX_TICKETS = 20_000;
/** Of one agent; of more the oldest no longer opens anything. */
const MAX_EACH = 100;

export function createTickets(options: {
  lifetimeMs: number;
  now: () => number;
  recheck: (claims: Claims) => void;
}): Tickets {
  const { lifetimeMs, now, recheck } = options;
  /** Oldest first: all live equally long. */
  const ticketsByWord = new Map<string, { claims: Claims; until: number }>();
  const wordsByHolder = new Map<string, string[]>();

  function forget(word: string): void {
    const holder = holderOf(ticketsByWord.get(word)?.claims);
    const left = (wordsByHolder.get(holder) ?? []).filter((one) => one !== word);
    if (left.length > 0) wordsByHolder.set(holder, left);
    else wordsByHolder.delete(holder);
    ticketsByWord.delete(word);
  }

  function sweep(): void {
    for (const [word, { until }] of ticketsByWord) {
      if (until > now()) return;
      forget(word);
    }
  }

  return {
    issue(claims) {
      sweep();
      const holder = holderOf(claims);
      const [oldest, ...others] = wordsByHolder.get(holder) ?? [];
      if (oldest !== undefined && others.length + 1 >= MAX_EACH) forget(oldest);
      if (ticketsByWord.size >= MAX_TICKETS)
        throw new ParleyError('UNAVAILABLE', 'too many unused tickets; try again in a minute');
      const ticket = `wst_${randomBytes(32).toString('base64url')}`;
      const until = now() + lifetimeMs;
      ticketsByWord.set(ticket, { claims, until });
      wordsByHolder.set(holder, [...(wordsByHolder.get(holder) ?? []), ticket]);
      return { ticket, expires_in_ms: lifetimeMs, expires_at: new Date(until).toISOString() };
    },
    redeem(ticket) {
      const found = ticketsByWord.get(ticket);
      if (found !== undefined) forget(ticket);
      if (found === undefined || found.until <= now()) return undefined;
      recheck(found.claims);
      return found.claims;
    },
  };
}

function holderOf(claims: Claims | undefined): string {
  return `${claims?.workspace_id} ${claims?.agent_id}`;
}
