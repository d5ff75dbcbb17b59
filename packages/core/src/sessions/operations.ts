import { LIMITS } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';

export const heartbeatSession = operation('heartbeat_session', {
  authority: 'look',
  async run(deps, caller, input) {
    const { idempotency_key, ...content } = input;
    const head = stamp(deps, caller, 'heartbeat', idempotency_key);
    const { result } = await deps.log.append({ type: 'heartbeat', ...head, input: content });
    return result as never;
  },
});

export const listSessions = operation('list_sessions', {
  authority: 'look',
  async run(deps, caller, { of_agent, status }) {
    const silentSince = deps.clock.now() - deps.patience.offlineAfterMs;
    const all = await deps.store.records({
      kind: 'session',
      workspace_id: caller.workspace_id,
      limit: LIMITS.records,
    });
    const sessions = all
      .map(({ since: _since, ...session }) =>
        Date.parse(session.last_heartbeat_at) < silentSince
          ? { ...session, status: 'offline' as const }
          : session,
      )
      .filter((session) => of_agent === undefined || session.agent_id === of_agent)
      .filter((session) => status === undefined || session.status === status);
    return { sessions };
  },
});
