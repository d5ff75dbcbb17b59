import { type Agent, type AgentView, type Caller, ParleyError } from '@parley/protocol';

import type { RecordCommand, RecordResponse } from '../commands.ts';
import type { Hub } from '../gate.ts';
import type { CallContext } from '../gate.ts';
import { stamp } from '../operation.ts';
import type { RecordPorts } from '../ports.ts';
import { journalId, type Located } from '../threads/access.ts';
import type { LiveEvent, LiveStatus } from './live-update.ts';

/** The durable side of the live face: what agents say goes through the gate, what is asked of them into their journal. */
export interface Registry {
  /** An agent's own words about itself, for what is asked of it often. */
  find(caller: Caller, agentId: string): Promise<Agent | undefined>;
  /** The agent that goes by a name: its own, or that of one of its instances. */
  agentOf(caller: Caller, name: string): Promise<string>;
  /** True for whoever has ever taken part in a thread. */
  hasTakenPart(caller: Caller, agentId: string): Promise<boolean>;
  /** A thread, to find out who may read it. */
  locate(workspaceId: string, threadId: string): Promise<Located>;
  /** All that the hub knows of an agent. */
  view(caller: Caller, agentId: string): Promise<AgentView | undefined>;
  /** Puts a command on record before it is sent; `replayed` when this id was there already. */
  recordCommand(caller: Caller, command: RecordCommand['input']): Promise<{ replayed: boolean }>;
  recordResponse(caller: Caller, response: RecordResponse['input']): Promise<void>;
  updateStatus(caller: Caller, status: LiveStatus, key?: string): Promise<void>;
  reportEvent(caller: Caller, event: LiveEvent, key: string): Promise<void>;
  /** Notes that an agent has gone. */
  offline(caller: Caller): Promise<void>;
}

/** How many agents may share the beginning of a name before an exact one is not looked for among them. */
const NAMESAKES = 1_000;

/** Puts the registry over the gate, the log and the store. */
export function createRegistry(deps: RecordPorts, hub: Hub, context: () => CallContext): Registry {
  return {
    async find({ workspace_id }, agentId) {
      const query = { kind: 'agent' as const, workspace_id, prefix: agentId, limit: NAMESAKES };
      return (await deps.store.records(query)).find(({ agent_id }) => agent_id === agentId);
    },
    async agentOf({ workspace_id }, name) {
      const query = { kind: 'instance' as const, workspace_id, keys: [name], limit: 1 };
      return (await deps.store.records(query))[0]?.agent_id ?? name;
    },
    async hasTakenPart({ workspace_id }, participant) {
      const { rows } = await deps.store.threads({
        workspace_id,
        participant,
        reader: participant,
        status: undefined,
        unread: false,
        limit: 1,
        max_bytes: 1,
        before: undefined,
      });
      return rows.length > 0;
    },
    async locate(workspace_id, thread_id) {
      const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
      return (await deps.store.page(query)).located;
    },
    async view(caller, agentId) {
      try {
        return await hub.call(caller, 'get_agent', { of_agent: agentId }, context());
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
    async updateStatus(caller, { name, status, capabilities, metadata }, key) {
      const input = {
        status,
        capabilities,
        ...(metadata === undefined ? {} : { metadata }),
        ...instanceOf(caller, name),
        ...(key === undefined ? {} : { idempotency_key: key }),
      };
      await hub.call(caller, 'update_agent_status', input, context());
    },
    async reportEvent(caller, { name, ...event }, idempotency_key) {
      const input = { ...event, ...instanceOf(caller, name), idempotency_key };
      await hub.call(caller, 'report_event', input, context());
    },
    async offline(caller) {
      // Whoever has used up a quota is gone all the same.
      const unmetered: CallContext = { ...context(), unmetered: true };
      await hub.call(caller, 'update_agent_status', { status: 'offline' }, unmetered);
    },
  };
}

function instanceOf({ agent_id }: Caller, name: string): { instance_id?: string } {
  return name === agent_id ? {} : { instance_id: name };
}
