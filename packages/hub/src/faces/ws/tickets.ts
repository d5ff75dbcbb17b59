import { randomBytes } from 'node:crypto';

import type { NodeCalls } from '@parley/core';
import { type Claims, ParleyError } from '@parley/protocol';

/** Words that open one connection, once and soon: what a browser may put into a URL. */
export interface Tickets {
  issue(claims: Claims): { ticket: string; expires_in_ms: number; expires_at: string };
  /** The claims behind a ticket, which is thereby used up. */
  redeem(ticket: string): Promise<Claims | undefined>;
}

/** The other nodes: a ticket names the one that issued it, where alone it is good. */
export interface TicketNodes {
  own: string;
  calls: Pick<NodeCalls, 'ask' | 'answer'>;
  /** Claims as they go to another node, and as they are held there. */
  handOver: (claims: Claims) => unknown;
  takeOver: (handed: unknown) => Promise<Claims>;
}

const REDEEM = 'ticket.redeem';

const MAX_TICKETS = 20_000;
/** Of one agent; of more the oldest no longer opens anything. */
const MAX_EACH = 100;

export function createTickets(options: {
  lifetimeMs: number;
  now: () => number;
  recheck: (claims: Claims) => void;
  nodes?: TicketNodes | undefined;
}): Tickets {
  const { lifetimeMs, now, recheck, nodes } = options;
  const prefix = nodes === undefined ? 'wst_' : `wst_${nodes.own}.`;
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

  function take(ticket: string): Claims | undefined {
    const found = ticketsByWord.get(ticket);
    if (found !== undefined) forget(ticket);
    return found === undefined || found.until <= now() ? undefined : found.claims;
  }

  nodes?.calls.answer(REDEEM, (ticket) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const claims = take(ticket as string);
    return claims === undefined ? null : nodes.handOver(claims);
  });

  return {
    issue(claims) {
      sweep();
      const holder = holderOf(claims);
      const [oldest, ...others] = wordsByHolder.get(holder) ?? [];
      if (oldest !== undefined && others.length + 1 >= MAX_EACH) forget(oldest);
      if (ticketsByWord.size >= MAX_TICKETS)
        throw new ParleyError('UNAVAILABLE', 'too many unused tickets; try again in a minute');
      const ticket = `${prefix}${randomBytes(32).toString('base64url')}`;
      const until = now() + lifetimeMs;
      ticketsByWord.set(ticket, { claims, until });
      wordsByHolder.set(holder, [...(wordsByHolder.get(holder) ?? []), ticket]);
      return { ticket, expires_in_ms: lifetimeMs, expires_at: new Date(until).toISOString() };
    },
    async redeem(ticket) {
      const [, node] = /^wst_([0-9a-f]+)[.]/.exec(ticket) ?? [];
      if (nodes === undefined || node === undefined || node === nodes.own) {
        const claims = take(ticket);
        if (claims !== undefined) recheck(claims);
        return claims;
      }
      const handed = await nodes.calls.ask(node, REDEEM, ticket).catch(() => null);
      if (handed === null) return undefined;
      const claims = await nodes.takeOver(handed);
      recheck(claims);
      return claims;
    },
  };
}

function holderOf(claims: Claims | undefined): string {
  return `${claims?.workspace_id} ${claims?.agent_id}`;
}
