import * as z from 'zod';

import { AgentEvent, AgentRegistration, AgentStatus, AgentStretch, AgentView } from './agents.ts';
import { CALLS } from './calls.ts';
import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, MessageId, Seq, ThreadId, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { Name, storableObject, storableText } from './text.ts';

const InstanceId = Name.optional().describe(
  'one of your instances: begins with your name, or with its part before the last -',
);

const registerAgent = contract({
  name: 'register_agent',
  version: '1.0.0',
  title: 'Register yourself',
  description: 'Tell the hub your name, your kind and the commands you take.',
  input: AgentRegistration.extend({
    instance_id: InstanceId,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ agent_id: Name, registered_at: Timestamp, changed: z.boolean() }),
  annotations: WRITES,
  essential: false,
  shows: 'state',
});

const updateAgentStatus = contract({
  name: 'update_agent_status',
  version: '1.0.0',
  title: 'Report your status',
  description: 'online, busy, error or offline, with what you are at.',
  input: AgentStatus.extend({ instance_id: InstanceId, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ ok: z.literal(true), recorded_at: Timestamp }),
  annotations: WRITES,
  essential: false,
  shows: 'status',
});

const reportEvent = contract({
  name: 'report_event',
  version: '1.0.0',
  title: 'Report an event',
  description: 'A task started, moved, ended or failed, or a warning: in a thread, or in your own journal.',
  input: AgentEvent.extend({
    instance_id: InstanceId,
    thread_id: ThreadId.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, message_id: MessageId, seq: Seq, created_at: Timestamp, ...CALLS }),
  annotations: WRITES,
  essential: false,
  shows: 'event',
  cost: 'message',
});

const listAgents = contract({
  name: 'list_agents',
  version: '1.0.0',
  title: 'List agents',
  description: 'Every agent of the workspace, its state and the reason for it.',
  input: z.object({ state: AgentView.shape.state.optional(), limit: Limit, after: After }),
  output: z.object({ agents: z.array(AgentView), next_after: NextAfter }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/agents' },
  essential: false,
});

const getAgent = contract({
  name: 'get_agent',
  version: '1.0.0',
  title: 'Get an agent',
  description: 'One agent, its state and the reason for it, its journal thread.',
  input: z.object({ of_agent: Name }),
  output: AgentView.extend({ journal_thread_id: ThreadId.nullable() }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/agents/{of_agent}' },
  essential: false,
});

const listAgentStates = contract({
  name: 'list_agent_states',
  version: '1.0.0',
  title: 'List what agents were at',
  description: 'What each agent was at between two moments, why, and what it waited for; the oldest first.',
  input: z.object({
    of_agent: Name.optional().describe('one agent, also one that was taken off the list'),
    since: Timestamp.optional().describe('a day before `until` when left out'),
    until: Timestamp.optional().describe('now when left out'),
    limit: Limit.describe('agents, not stretches'),
    after: After,
  }),
  output: z.object({
    since: Timestamp,
    until: Timestamp,
    agents: z.array(
      z.object({
        agent_id: Name,
        stretches: z
          .array(AgentStretch)
          .describe('where one does not follow upon the other, the hub was not running'),
        older_than: Timestamp.nullable().describe(
          'there are older ones: ask for this agent with this as `until`; null: these are all',
        ),
      }),
    ),
    next_after: NextAfter,
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/agent-states' },
  essential: false,
});

const commandAgent = contract({
  name: 'command_agent',
  version: '1.0.0',
  title: 'Command an agent',
  description:
    'Send a command to a connected agent and wait for its answer; operators and orchestrators only.',
  input: z.object({
    of_agent: Name,
    of_session: Name.optional().describe('one of its sessions; needed where several take the command'),
    command: storableText({ maxBytes: 128 }),
    parameters: storableObject(LIMITS.body_bytes).optional(),
    correlation_id: storableText({ maxBytes: 128 }).optional(),
    timeout_ms: z.number().int().min(1).max(LIMITS.wait_max_ms).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({
    success: z.boolean(),
    result: z.unknown().optional(),
    error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }).optional(),
    execution_ms: z.number(),
  }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const forgetAgent = contract({
  name: 'forget_agent',
  version: '1.0.0',
  title: 'Forget an agent',
  description:
    'Take an agent that is gone off the list, with its sessions; what it said stays on record. Operators only.',
  input: z.object({
    of_agent: Name,
    reason: storableText({ maxBytes: LIMITS.reason_bytes }).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ agent_id: Name, forgotten_at: Timestamp, sessions: z.number().int() }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const dismissError = contract({
  name: 'dismiss_error',
  version: '1.0.0',
  title: 'Dismiss an error',
  description:
    'Say that a person has seen to what an agent failed with; until then it reads error. Operators only.',
  input: z.object({
    of_agent: Name,
    failed_at: Timestamp.describe('the time of the failure that was seen; a newer one stays'),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ agent_id: Name, failed_at: Timestamp, dismissed_by: Name, dismissed_at: Timestamp }),
  annotations: WRITES,
  essential: false,
  shows: 'state',
  strict: true,
});

/** By name: the table of contracts takes them from here. */
export const agentContracts = {
  register_agent: registerAgent,
  update_agent_status: updateAgentStatus,
  report_event: reportEvent,
  list_agents: listAgents,
  get_agent: getAgent,
  list_agent_states: listAgentStates,
  command_agent: commandAgent,
  forget_agent: forgetAgent,
  dismiss_error: dismissError,
};
