import { LIMITS, ParleyError } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import { findThread } from '../threads/find-thread.ts';

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

export const triggerParticipant = operation('trigger_participant', {
  authority: 'act',
  async run(deps, caller, { thread_id, target_agent_id, force, audit }) {
    const thread = await findThread(deps, caller, thread_id);
    if (!thread.participants.includes(target_agent_id)) {
      throw new ParleyError('NOT_FOUND', `${target_agent_id} is not a participant of this thread`, {
        field: 'target_agent_id',
      });
    }
    if (force === true && caller.role !== 'operator') {
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only an operator may force a wake');
    }
    if (force === true && audit === undefined) {
      throw new ParleyError('VALIDATION_ERROR', 'audit: a forced wake must say who asked for it and why', {
        field: 'audit',
      });
    }
    throw new ParleyError(
      'WAKE_FAILED',
      'this hub has no door to any runtime yet: nothing was sent; the message waits to be read',
      {
        target_agent_id,
        reason: 'no_door_configured',
      },
    );
  },
});
