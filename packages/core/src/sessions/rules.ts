import type { Caller } from '@parley/protocol';

import type { Heartbeat, Rule } from '../commands.ts';
import type { StoredSession } from './stored-session.ts';

/** The name under which a session is kept: those of one agent stand together. */
export function sessionKey({ agent_id, session_id }: Pick<Caller, 'agent_id' | 'session_id'>): string {
  return `${agent_id} ${session_id}`;
}

const heartbeat: Rule<Heartbeat> = {
  needs: ({ caller }) => ({ record: { kind: 'session', key: sessionKey(caller) } }),
  decide({ record }, command) {
    const { agent_id, workspace_id, session_id } = command.caller;
    const recorded_at = new Date(command.now).toISOString();
    const known = record?.session;
    const value: StoredSession = {
      agent_id,
      workspace_id,
      session_id,
      ...command.input,
      last_heartbeat_at: recorded_at,
      since: known?.status === command.input.status ? known.since : recorded_at,
    };
    const key = sessionKey(command.caller);
    return {
      changes: [],
      records: [{ kind: 'session', workspace_id, key, mark: value.status, owner: agent_id, value }],
      result: { ok: true, recorded_at },
    };
  },
};

export const sessionRules = { heartbeat };
