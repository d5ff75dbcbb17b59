import {
  type Agent,
  type AgentView,
  type Caller,
  isOpaque,
  type LiveMessage,
  ParleyError,
} from '@parley/protocol';

import type { RecordCommand, RecordResponse } from '../commands.ts';
import type { Hub } from '../hub.ts';
import { type CallContext, type Deps, stamp } from '../operation.ts';
import { journalId } from '../threads/access.ts';

/** The durable side of the live face: what agents say goes through the gate, what is asked of them into their journal. */
export interface Registry {
  /** An agent's own words about itself, for what is asked of it often. */
  find(caller: Caller, agentId: string): Promise<Agent | undefined>;
  /** All that the hub knows of an agent. */
  view(caller: Caller, agentId: string): Promise<AgentView | undefined>;
  /** Puts a command on record before it is sent; `replayed` when this id was there already. */
  recordCommand(caller: Caller, command: RecordCommand['input']): Promise<{ replayed: boolean }>;
  recordResponse(caller: Caller, response: RecordResponse['input']): Promise<void>;
  updateStatus(caller: Caller, update: LiveMessage<'status_update'>['payload']): Promise<void>;
  reportEvent(caller: Caller, event: LiveMessage<'event'>['payload']): Promise<void>;
  /** Notes that an agent has gone. */
  offline(caller: Caller): Promise<void>;
}

/** How many agents may share the beginning of a name before an exact one is not looked for among them. */
const NAMESAKES = 1_000;

/** Puts the registry over the gate, the log and the store. */
export function createRegistry(deps: Deps, hub: Hub, context: () => CallContext): Registry {
  return {
    async find({ workspace_id }, agentId) {
      const query = { kind: 'agent' as const, workspace_id, prefix: agentId, limit: NAMESAKES };
      return (await deps.store.records(query)).find(({ agent_id }) => agent_id === agentId);
    },
    async view(caller, agentId) {
      try {
        return (await hub.call(
          caller,
          'get_agent',
          { of_agent: agentId },
          context(),
        )) as unknown as AgentView;
      } catch (error) {
        if (error instanceof ParleyError && error.code === 'NOT_FOUND') return undefined;
        throw error;
      }
    },
    async recordCommand(caller, input) {
      const thread_id = journalId(caller.workspace_id, input.of_agent);
      const head = stamp(deps, caller, `command:${thread_id}`, input.command_id);
      const { replayed } = await deps.log.append({ type: 'record_command', ...head, thread_id, input });
      return { replayed };
    },
    async recordResponse(caller, input) {
      const thread_id = journalId(caller.workspace_id, caller.agent_id);
      const head = stamp(deps, caller, '', undefined);
      await deps.log.append({ type: 'record_response', ...head, thread_id, input });
    },
    async updateStatus(caller, update) {
      if (isOpaque(update)) return;
      const { status, capabilities, metadata } = update;
      const input = { status, capabilities, ...(metadata === undefined ? {} : { metadata }) };
      await hub.call(caller, 'update_agent_status', input, context());
    },
    async reportEvent(caller, event) {
      if (isOpaque(event)) return;
      const { eventType: event_type, data, threadId } = event;
      const input = { event_type, data, ...(threadId === undefined ? {} : { thread_id: threadId }) };
      await hub.call(caller, 'report_event', input, context());
    },
    async offline(caller) {
      // Whoever has used up a quota is gone all the same.
      const unmetered: CallContext = { ...context(), unmetered: true };
      await hub.call(caller, 'update_agent_status', { status: 'offline' }, unmetered);
    },
  };
}
