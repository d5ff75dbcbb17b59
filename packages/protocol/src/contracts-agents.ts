import { z } from 'zod';

import { AgentEvent, AgentRegistration, AgentStatus, AgentView } from './agents.ts';
import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, MessageId, Seq, ThreadId, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { Name, storableObject, storableText } from './text.ts';

export const registerAgent = contract({
  name: 'register_agent',
  version: '1.0.0',
  title: 'Register yourself',
  description: 'Tell the hub your name, your kind and the commands you take.',
  input: AgentRegistration.extend({ idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ agent_id: Name, registered_at: Timestamp, changed: z.boolean() }),
  annotations: WRITES,
  essential: false,
});

export const updateAgentStatus = contract({
  name: 'update_agent_status',
  version: '1.0.0',
  title: 'Report your status',
  description: 'online, busy, error or offline, with what you are at.',
  input: AgentStatus.extend({ idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ ok: z.literal(true), recorded_at: Timestamp }),
  annotations: WRITES,
  essential: false,
});

export const reportEvent = contract({
  name: 'report_event',
  version: '1.0.0',
  title: 'Report an event',
  description: 'A task started, moved, ended or failed, or a warning: in a thread, or in your own journal.',
  input: AgentEvent.extend({
    thread_id: ThreadId.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ thread_id: ThreadId, message_id: MessageId, seq: Seq, created_at: Timestamp }),
  annotations: WRITES,
  essential: false,
  cost: 'message',
});

export const listAgents = contract({
  name: 'list_agents',
  version: '1.0.0',
  title: 'List agents',
  description: 'Every agent of the workspace, its state and the reason for it.',
  input: z.object({ state: AgentView.shape.state.optional() }),
  output: z.object({ agents: z.array(AgentView) }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/agents' },
  essential: false,
});

export const getAgent = contract({
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

export const commandAgent = contract({
  name: 'command_agent',
  version: '1.0.0',
  title: 'Command an agent',
  description:
    'Send a command to a connected agent and wait for its answer; operators and orchestrators only.',
  input: z.object({
    of_agent: Name,
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
