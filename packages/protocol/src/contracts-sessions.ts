import * as z from 'zod';

import { DailyHours } from './daily-hours.ts';
import { contract, READS, WRITES } from './contract.ts';
import {
  IdempotencyKey,
  ManagementMode,
  Metadata,
  Quiet,
  Session,
  SessionStatus,
  ThreadId,
  Timestamp,
} from './entities.ts';
import { LIMITS } from './limits.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { Name, storableText } from './text.ts';

const NativeId = z
  .string()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, { error: 'must be a UUID' });

const heartbeatSession = contract({
  name: 'heartbeat_session',
  version: '1.0.0',
  title: 'Report that a session is alive',
  description: 'Say that your session lives, active or idle, so that others know if you can be woken.',
  input: z.object({
    runtime: storableText({ maxBytes: 64 }).describe('such as codex_cli'),
    status: SessionStatus.default('active'),
    resumable: z.boolean().default(false),
    management_mode: ManagementMode.default('unmanaged'),
    native_session_id: NativeId.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ ok: z.literal(true), recorded_at: Timestamp }),
  annotations: WRITES,
  essential: true,
  shows: 'state',
});

const listSessions = contract({
  name: 'list_sessions',
  version: '1.0.0',
  title: 'List sessions',
  description: 'Which agents of the workspace are there: runtime, status, last heartbeat.',
  input: z.object({
    of_agent: Name.optional().describe('only the sessions of this agent'),
    status: SessionStatus.optional(),
    limit: Limit,
    after: After,
  }),
  output: z.object({ sessions: z.array(Session), next_after: NextAfter }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/sessions' },
  essential: false,
});

const TriggerId = z.string().min(1).max(64);

const waitForWake = contract({
  name: 'wait_for_wake',
  version: '1.0.0',
  title: 'Wait to be woken',
  description:
    'For hooks of a runtime: wait until this session is to be woken; say with took that you hand the text on.',
  input: z.object({
    native_session_id: NativeId,
    took: TriggerId.optional().describe('you have this wake and hand it to the session; answers at once'),
    seen: z.array(TriggerId).max(20).default([]).describe('wakes that the session’s own record holds'),
    timeout_ms: z.number().int().min(0).max(LIMITS.wait_max_ms).default(25_000),
  }),
  output: z.object({
    wake: z.object({ trigger_id: z.string(), thread_id: z.string(), prompt: z.string() }).nullable(),
    replaced: z.boolean().describe('another waits for the same session now: go'),
  }),
  annotations: WRITES,
  essential: false,
});

const triggerParticipant = contract({
  name: 'trigger_participant',
  version: '1.0.0',
  title: 'Wake a participant',
  description: 'Wake a participant that has unread messages.',
  input: z.object({
    thread_id: ThreadId,
    target_agent_id: Name,
    reason: storableText({ maxBytes: LIMITS.reason_bytes }).default('new_unread_messages'),
    trigger_prompt: storableText({ maxBytes: 4_096 }).optional(),
    force: z.boolean().optional().describe('operators only, with audit'),
    audit: Metadata.optional(),
    timeout_ms: z.number().int().min(0).max(600_000).default(30_000),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({
    trigger_id: z.string(),
    target_agent_id: Name,
    action: z.enum(['trigger_runtime', 'resume_session', 'spawn_session', 'none']),
    result: z.enum(['delivered', 'queued', 'deferred', 'delivering', 'skipped', 'failed']),
    reason: z.string().optional().describe('why nobody was woken'),
    door: z.string().optional(),
    proof: z.string().optional().describe('what shows that it arrived'),
    passed: z.array(z.object({ door: z.string(), reason: z.string() })).optional(),
    defer_reason: z.string().optional(),
    deferred_until: Timestamp.optional(),
    fallback_action: z.string().optional(),
    runtime_command: z.string().optional(),
    triggered_at: Timestamp,
  }),
  annotations: WRITES,
  essential: true,
  cost: 'message',
  strict: true,
});

const checkReach = contract({
  name: 'check_reach',
  version: '1.0.0',
  title: 'Can an agent be reached?',
  description:
    'Look through every door by which an agent would be woken now; nothing is given to it. Operators and orchestrators only.',
  input: z.object({ of_agent: Name }),
  output: z.object({
    agent_id: Name,
    runtime: z.enum(['codex', 'claude', 'other']),
    reachable: z.enum(['now', 'later', 'no']).describe('later: somebody types there, or it is at work'),
    doors: z.array(
      z.object({ door: z.string(), open: z.enum(['now', 'later', 'no']), reason: z.string().optional() }),
    ),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/agents/{of_agent}/reach' },
  essential: false,
});

const setQuiet = contract({
  name: 'set_quiet',
  version: '1.0.0',
  title: 'Leave an agent alone',
  description:
    'Keep an agent, or with no name everybody, from being woken: for a time, at hours of the day, or until it is taken back. What was asked for meanwhile is done afterwards, unless it was read.',
  input: z.object({
    of_agent: Name.optional().describe('who is left alone; everybody of the workspace when left out'),
    quiet: z.boolean().default(true).describe('false takes it back'),
    for_ms: z
      .number()
      .int()
      .min(1_000)
      .max(2_592_000_000)
      .optional()
      .describe('for how long, at most 30 days'),
    hours: DailyHours.optional().describe('only at these hours of each day'),
    reason: storableText({ maxBytes: LIMITS.reason_bytes }).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ quiet: Quiet.nullable() }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const listQuiet = contract({
  name: 'list_quiet',
  version: '1.0.0',
  title: 'Who is left alone',
  description: 'Which agents of the workspace are not to be woken, since when, until when and by whom.',
  input: z.object({ limit: Limit, after: After }),
  output: z.object({ quiet: z.array(Quiet), next_after: NextAfter }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/quiet' },
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const sessionContracts = {
  heartbeat_session: heartbeatSession,
  list_sessions: listSessions,
  trigger_participant: triggerParticipant,
  check_reach: checkReach,
  set_quiet: setQuiet,
  list_quiet: listQuiet,
  wait_for_wake: waitForWake,
};
