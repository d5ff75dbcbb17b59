import * as z from 'zod';

import { AGENT_STATES } from './agent-words.ts';
import { LIMITS } from './limits.ts';
import { Name, storableObject, storableText } from './text.ts';

const Moment = z.iso.datetime();
const Capabilities = z.array(storableText({ maxBytes: 128 })).max(200);

/** An address that is kept for people to see and never dialled. */
const Endpoint = z
  .string()
  .max(2_048)
  .refine(
    (text) => {
      if (!/^(?:wss?|https?):\/\//i.test(text) || !URL.canParse(text)) return false;
      const { username, password } = new URL(text);
      return username === '' && password === '';
    },
    { error: 'must be a ws, wss, http or https URL without credentials' },
  );

export const AgentRegistration = z.object({
  name: storableText({ maxBytes: 200 }),
  type: z.enum(['atreides', 'sisyphus', 'custom']).default('custom'),
  capabilities: Capabilities.default([]).describe('commands you take; none listed: all'),
  endpoint: Endpoint.optional(),
  max_concurrent: z.number().int().min(1).max(1_000).optional().describe('commands you take at once'),
  metadata: storableObject(LIMITS.metadata_bytes).optional(),
});
export type AgentRegistration = z.infer<typeof AgentRegistration>;

export const AgentStatusWord = z.enum(['online', 'offline', 'busy', 'error']);

const StatusMetadata = storableObject(LIMITS.metadata_bytes).refine(
  ({ healthScore }) =>
    healthScore === undefined || (typeof healthScore === 'number' && healthScore >= 0 && healthScore <= 100),
  { error: 'healthScore must be a number from 0 to 100' },
);

export const AgentStatus = z.object({
  status: AgentStatusWord,
  capabilities: Capabilities.optional(),
  metadata: StatusMetadata.optional(),
});
export type AgentStatus = z.infer<typeof AgentStatus>;

export const AGENT_EVENTS = [
  'task_started',
  'task_progress',
  'task_completed',
  'task_failed',
  'error',
  'warning',
  'info',
] as const;

export const AgentEvent = z.object({
  event_type: z.enum(AGENT_EVENTS),
  data: storableObject(LIMITS.metadata_bytes).default({}),
});
export type AgentEvent = z.infer<typeof AgentEvent>;

const Failure = z.object({
  at: Moment.describe('also which one it is: a newer one has a later time'),
  text: z.string(),
  thread_id: z.string().optional().describe('where it was said, unless in its own journal'),
});

/** What the registry keeps of an agent, however it came to be known. */
export const Agent = z
  .object({
    agent_id: Name,
    workspace_id: Name,
    registration: AgentRegistration.optional(),
    registered_at: Moment.optional(),
    capabilities: z.array(z.string()),
    status: AgentStatusWord,
    status_since: Moment.describe('when what it says of itself last changed'),
    reported_at: Moment.optional().describe('its last word on its status'),
    last_seen: Moment,
    metadata: z.record(z.string(), z.unknown()).optional(),
    instances: z.array(Name).optional().describe('what its instances call themselves, the last heard last'),
    last_event: z
      .object({
        event_type: z.string(),
        text: z.string(),
        at: Moment,
        thread_id: z.string().optional().describe('where it was said, unless in its own journal'),
      })
      .optional(),
    failure: Failure.extend({ dismissed: z.object({ by: Name, at: Moment }).optional() }).optional(),
  })
  .meta({ id: 'Agent' });
export type Agent = z.infer<typeof Agent>;

/** What an agent waits for that does not go on by itself. */
const WaitsFor = z
  .object({
    what: z.enum(['answer', 'prompt', 'rate_limit']),
    ask_id: z.string().optional().describe('of an answer: what it asked'),
    until: z.string().optional().describe('of a rate limit: when it ends, as the agent says'),
  })
  .describe('an answer of a person, a prompt at its terminal, the end of a rate limit');
export type WaitsFor = z.infer<typeof WaitsFor>;

/** An agent as every face shows it: one identity, whatever ways it came in by. */
export const AgentView = z
  .object({
    agent_id: Name,
    name: z.string(),
    type: z.string(),
    status: AgentStatusWord.describe('online, offline, busy or error, as the agent or its silence says'),
    state: z.enum(AGENT_STATES),
    reason: z.string().describe('why, in one line'),
    since: Moment,
    waits_for: WaitsFor.optional(),
    last_seen: Moment,
    capabilities: z.array(z.string()),
    connected: z.array(z.string()).describe('the ways it is connected by right now'),
    runtimes: z.array(z.string()),
    sessions: z.number().int(),
    unread: z.number().int().describe('messages of its threads it has not acknowledged'),
    open_asks: z.number().int(),
    presence: z.array(z.object({ thread_id: z.string(), state: z.string(), since: Moment })),
    endpoint: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    instances: z.array(Name).optional().describe('what its instances call themselves, the last heard last'),
    last_event: z.object({ event_type: z.string(), text: z.string(), at: Moment }).optional(),
    failure: Failure.optional().describe('what it failed with last, until a person dismisses it'),
    meanwhile: z
      .object({ state: z.enum(AGENT_STATES), reason: z.string(), since: Moment })
      .optional()
      .describe('in the state error: what it is at apart from that'),
  })
  .meta({ id: 'AgentView' });
export type AgentView = z.infer<typeof AgentView>;

/** What an agent was at from one moment to another, and why. */
export const AgentStretch = z
  .object({
    state: z.enum(AGENT_STATES),
    reason: z.string().describe('why, in one line'),
    since: Moment,
    until: Moment.nullable().describe('null: it is so now'),
    waits_for: WaitsFor.optional(),
    thread_id: z.string().optional().describe('where it asked, failed or wrote'),
  })
  .meta({ id: 'AgentStretch' });
export type AgentStretch = z.infer<typeof AgentStretch>;
