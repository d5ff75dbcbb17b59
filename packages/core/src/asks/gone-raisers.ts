import type { Ask } from '@parley/protocol';

import type { Links } from '../agents/ports.ts';
import type { Patience } from '../agents/state.ts';
import type { Clock } from '../clock.ts';
import { goneSince } from '../sessions/gone.ts';
import { recordsAt } from '../record-pages.ts';
import type { Store } from '../store.ts';

/** Whose answer it would be: the session that raised an ask is the one that can take its verdict. */
export type Raised = Pick<Ask, 'ask_id' | 'workspace_id' | 'agent_id' | 'session_id' | 'created_at'>;

/** Knows of asks whether the session that raised them is still there. */
export interface GoneRaisers {
  /** Since when each of those is gone that are gone, by ask. */
  find(asks: readonly Raised[]): Promise<Map<string, number>>;
  /** Somebody of the agent waits for the verdict until this is called. */
  waits(askId: string): () => void;
}

/** Looks at connections, heartbeats and waiting calls; what was before the hub came up is held against nobody. */
export function createGoneRaisers(deps: {
  store: Pick<Store, 'records'>;
  clock: Clock;
  links: Pick<Links, 'session'>;
  patience: Patience;
}): GoneRaisers {
  const { store, clock, links, patience } = deps;
  const startedAt = clock.now();
  const waitsByAsk = new Map<string, number>();

  return {
    async find(asks) {
      const found = new Map<string, number>();
      const unsure = asks.filter((ask) => !waitsByAsk.has(ask.ask_id) && links.session(ask) !== 'connected');
      const now = clock.now();
      for (const workspace_id of new Set(unsure.map((ask) => ask.workspace_id))) {
        const own = unsure.filter((ask) => ask.workspace_id === workspace_id);
        const keys = [...new Set(own.map(sessionKey))];
        const sessions = await recordsAt(store, { kind: 'session', workspace_id }, keys);
        const byKey = new Map(sessions.map((session) => [sessionKey(session), session]));
        for (const ask of own) {
          const after = Math.max(startedAt, Date.parse(ask.created_at));
          const signs = { session: byKey.get(sessionKey(ask)), connection: links.session(ask), after };
          const since = goneSince(signs, patience, now);
          if (since !== undefined) found.set(ask.ask_id, since);
        }
      }
      return found;
    },
    waits(askId) {
      waitsByAsk.set(askId, (waitsByAsk.get(askId) ?? 0) + 1);
      return () => {
        const rest = (waitsByAsk.get(askId) ?? 1) - 1;
        if (rest > 0) waitsByAsk.set(askId, rest);
        else waitsByAsk.delete(askId);
      };
    },
  };
}

function sessionKey({ agent_id, session_id }: Pick<Ask, 'agent_id' | 'session_id'>): string {
  return `${agent_id} ${session_id}`;
}
