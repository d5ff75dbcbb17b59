import { fieldsOf } from './read-unknown.ts';
import * as z from 'zod';

import { AGENT_EVENTS } from './agents.ts';
import { Role } from './entities.ts';
import { Name, storableObject, storableText } from './text.ts';

/** The schema versions of `/ws`; every 1.x speaks with the first. */
export const LIVE_VERSIONS = ['1.0'] as const;

export const LIVE_TYPES = [
  'status_request',
  'status_update',
  'command',
  'command_response',
  'event',
  'error',
] as const;
export type LiveType = (typeof LIVE_TYPES)[number];

const OBJECT_BYTES = 65_536;
const word = storableText({ maxBytes: 128 });
const object = storableObject(OBJECT_BYTES);
/** Any moment with its zone; how far it may lie from the hub's own time is decided where the time is known. */
const moment = z.iso.datetime({ offset: true });

/** A payload that is encrypted end to end: the hub passes it on and does not look inside. */
export const Opaque = z
  .object({
    contentType: z.literal('application/jose'),
    jwe: z.string().regex(/^[\w-]*\.[\w-]*\.[\w-]*\.[\w-]*\.[\w-]*$/, { error: 'must be a compact JWE' }),
    requestId: z.uuid().optional().describe('the id of the message this answers, where it is an answer'),
  })
  .meta({ id: 'Opaque' });

/** What the hub says of an operation that is to end, in the words of this wire. */
const LiveEnding = z
  .object({
    operation: z.string(),
    announcedAt: moment,
    endsAt: moment.describe('it is answered as before until then'),
    use: z.string().optional().describe('what to use instead'),
  })
  .meta({ id: 'Ending' });
export type LiveEnding = z.infer<typeof LiveEnding>;

const AgentStatus = z.enum(['online', 'offline', 'busy', 'error']);

const StatusMetadata = object.and(
  z.looseObject({
    version: z.string().optional(),
    uptime: z.number().min(0).optional().describe('seconds'),
    currentTask: z.string().optional(),
    healthScore: z.number().min(0).max(100).optional(),
  }),
);

/** What each type of message carries. */
export const LIVE_PAYLOADS = {
  status_request: z.object({}).optional(),
  status_update: z.object({
    agentId: Name,
    status: AgentStatus,
    lastSeen: moment.optional().describe("ignored on the way in; on the way out the hub's own time"),
    capabilities: z.array(word).max(200),
    metadata: StatusMetadata.optional(),
    requestId: z.uuid().optional().describe('the id of the status_request this answers'),
  }),
  command: z.object({
    command: word,
    parameters: object.optional(),
    correlationId: z.string().min(1).max(255).optional().describe('links the command to a task of yours'),
  }),
  command_response: z.object({
    requestId: z.uuid().describe('the id of the command'),
    success: z.boolean(),
    result: z.unknown().optional(),
    error: z
      .object({ code: z.string().max(128), message: z.string().max(8_192), details: z.unknown().optional() })
      .optional(),
    executionTime: z.number().min(0).describe('milliseconds'),
    deprecation: LiveEnding.optional().describe(
      'on an answer of the hub itself: the operation is to end; on a refusal it stands in details.deprecation',
    ),
  }),
  event: z.object({
    eventType: z.enum(AGENT_EVENTS),
    agentId: Name,
    data: object,
    threadId: z.string().min(1).max(128).optional().describe('keeps the event in this thread'),
  }),
  error: z.object({
    code: z.string().min(1).max(128),
    message: z.string().max(8_192),
    details: z.unknown().optional(),
    recoverable: z.boolean(),
  }),
} as const satisfies Record<LiveType, z.ZodType>;

/** The words around every payload. */
export const LiveEnvelope = z.object({
  id: z.uuidv4().describe('yours, fresh for each message; the answer names it'),
  type: z.enum(LIVE_TYPES),
  timestamp: moment,
  source: Name.describe('your agent_id'),
  target: Name.optional().describe('an agent_id, or parley for the hub; without it everyone'),
  targetSession: Name.optional().describe(
    'on a command: one session of the target; needed where several take it',
  ),
  sourceRole: Role.optional().describe("on a command that the hub passes on: its sender's verified role"),
  payload: z.unknown().optional(),
});

/** The registration of an agent, as the parameters of the command `register_agent`. */
export const Registration = z.object({
  agentId: Name.optional(),
  name: storableText({ maxBytes: 200 }),
  type: z.enum(['atreides', 'sisyphus', 'custom']).default('custom'),
  capabilities: z.array(word).max(200).default([]),
  endpoint: z.string().min(1).max(2_048).optional(),
  metadata: object.optional(),
  maxConcurrent: z.number().int().min(1).max(1_000).optional(),
});

type PayloadOf<T extends LiveType> = z.infer<(typeof LIVE_PAYLOADS)[T]>;
export type OpaquePayload = z.infer<typeof Opaque>;

/** One message on `/ws`; its payload is undefined where it is sealed. */
export type LiveMessage<T extends LiveType = LiveType> = {
  [K in T]: {
    id: string;
    type: K;
    timestamp: string;
    source: string;
    sourceRole?: Role;
    target?: string;
    targetSession?: string;
    payload: PayloadOf<K> | OpaquePayload;
  };
}[T];

/** True for a payload that only its two ends can read. */
export function isOpaque(payload: unknown): payload is OpaquePayload {
  if (payload === null || typeof payload !== 'object') return false;
  return fieldsOf(payload)['contentType'] === 'application/jose';
}
