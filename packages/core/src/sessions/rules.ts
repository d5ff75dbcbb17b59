import type { Heartbeat, Rule } from '../commands.ts';
import type { KeptSession } from '../records.ts';

const keyOf = ({ caller: { agent_id, session_id } }: Heartbeat): string => `${agent_id} ${session_id}`;

const heartbeat: Rule<Heartbeat> = {
  needs: (command) => ({ record: { kind: 'session', key: keyOf(command) } }),
  decide({ record }, command) {
    const { agent_id, workspace_id, session_id } = command.caller;
    const recorded_at = new Date(command.now).toISOString();
    const known = record as KeptSession | undefined;
    const value: KeptSession = {
      agent_id,
      workspace_id,
      session_id,
      ...command.input,
      last_heartbeat_at: recorded_at,
      since: known?.status === command.input.status ? known.since : recorded_at,
    };
    const key = keyOf(command);
    return {
      changes: [],
      records: [{ kind: 'session', workspace_id, key, mark: value.status, owner: agent_id, value }],
      result: { ok: true, recorded_at },
    };
  },
};

export const sessionRules = { heartbeat };
