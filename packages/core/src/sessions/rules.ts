import type { Heartbeat, Rule } from '../commands.ts';

const heartbeat: Rule<Heartbeat> = {
  needs: () => ({}),
  decide(_loaded, command) {
    const { agent_id, workspace_id, session_id } = command.caller;
    const recorded_at = new Date(command.now).toISOString();
    const value = { agent_id, workspace_id, session_id, ...command.input, last_heartbeat_at: recorded_at };
    return {
      changes: [],
      records: [
        { kind: 'session', workspace_id, key: `${agent_id} ${session_id}`, mark: value.status, value },
      ],
      result: { ok: true, recorded_at },
    };
  },
};

export const sessionRules = { heartbeat };
