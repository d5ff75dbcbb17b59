import type { Session } from '@parley/protocol';

import type { Links } from '../agents/ports.ts';
import { operation, stamp } from '../operation.ts';
import type { AgentPorts, RecordPorts } from '../ports.ts';
import { readPage } from '../record-pages.ts';
import { sessionKey } from './rules.ts';

const heartbeatSession = operation('heartbeat_session', {
  authority: 'look',
  async run(deps: RecordPorts & AgentPorts, caller, input) {
    const { idempotency_key, ...content } = input;
    const head = stamp(deps, caller, 'heartbeat', idempotency_key);
    const { result } = await deps.log.append({ type: 'heartbeat', ...head, input: content });
    deps.arrivals.heard(caller, { gone: input.status === 'offline', native: input.native_session_id });
    return result;
  },
});

const listSessions = operation('list_sessions', {
  authority: 'look',
  async run(deps: RecordPorts & AgentPorts, caller, { of_agent, status, limit, after }) {
    const silentSince = deps.clock.now() - deps.patience.offlineAfterMs;
    const { store, links } = deps;
    const all = { kind: 'session', workspace_id: caller.workspace_id } as const;
    const query = of_agent === undefined ? all : { ...all, prefix: `${of_agent} ` };
    const sessions: Session[] = [];
    let place = after;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const asked = { limit: limit - sessions.length, after: place };
      const { values, next_after } = await readPage(store, query, asked, sessionKey);
      const owners = [...new Set(values.map(({ agent_id }) => agent_id))];
      const kin = await store.records({ ...all, owners, heard_last: true, limit: KIN });
      const lostAt = lossesOf(kin, links);
      for (const { since: _since, ...session } of values) {
        const heard = Date.parse(session.last_heartbeat_at);
        const isGone = heard < silentSince || heard <= (lostAt(session) ?? -Infinity);
        const seen: Session = isGone ? { ...session, status: 'offline' } : session;
        if (status === undefined || seen.status === status) sessions.push(seen);
      }
      if (next_after === null || sessions.length >= limit) return { sessions, next_after };
      place = next_after;
    }
    return { sessions, next_after: place ?? null };
  },
});

/** How many pages are looked at for sessions in one status. */
const MOST_PAGES = 10;
/** How many sessions of one agent are looked at for who had the same in hand, those that were heard last. */
const KIN = 100;

/** When a session has lost its connection, or whoever had the same session of the runtime in hand lost theirs. */
function lossesOf(sessions: readonly Session[], links: Links): (session: Session) => number | undefined {
  const keeper = ({ agent_id, session_id, native_session_id = session_id }: Session): string =>
    `${agent_id} ${native_session_id}`;
  const lostBy = new Map<string, number>();
  for (const session of sessions) {
    const connection = links.session(session);
    if (typeof connection === 'object')
      lostBy.set(keeper(session), Math.max(connection.lost, lostBy.get(keeper(session)) ?? -Infinity));
  }
  return (session) => (links.session(session) === 'connected' ? undefined : lostBy.get(keeper(session)));
}

/** By name: the table of operations takes them from here. */
export const sessionOperations = {
  heartbeat_session: heartbeatSession,
  list_sessions: listSessions,
};
