import * as z from 'zod';

import type { EnvelopeCode } from './envelope-words.ts';
import type { ErrorCode } from './errors.ts';
import { LIMITS } from './limits.ts';
import { Name, storableText } from './text.ts';

/** The envelope versions that are understood. */
export const ENVELOPE_VERSIONS = ['2.2'] as const;

/** What each of the hub's codes is called in an envelope, once its action has begun. */
export const ENVELOPE_CODE = {
  UNAUTHORIZED: 'UNAUTHORIZED',
  FORBIDDEN: 'FORBIDDEN',
  OUT_OF_SCOPE_WORKSPACE: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  CONFLICT: 'CONFLICT',
  RATE_LIMITED: 'RATE_LIMIT_EXCEEDED',
  VALIDATION_ERROR: 'UNPROCESSABLE_ENTITY',
  WAKE_FAILED: 'UNAVAILABLE',
  UNMANAGED_RUNTIME: 'CONFLICT',
  HUMAN_INPUT_COLLISION: 'CONFLICT',
  CLAIM_MISMATCH: 'FORBIDDEN',
  INSUFFICIENT_AUTHORITY: 'FORBIDDEN',
  IDEMPOTENCY_CONFLICT: 'CONFLICT',
  EXPIRED: 'EXPIRED',
  UNAVAILABLE: 'UNAVAILABLE',
  INTERNAL: 'INTERNAL',
} as const satisfies Record<ErrorCode, EnvelopeCode>;

/** The roles of the envelope, the mightiest first. */
export const ENVELOPE_ROLES = ['owner', 'editor', 'agent', 'viewer'] as const;
export type EnvelopeRole = (typeof ENVELOPE_ROLES)[number];

/** Old names of roles, understood for ever. */
export const ROLE_ALIASES = { cursor: 'agent', codex: 'editor' } as const satisfies Record<
  string,
  EnvelopeRole
>;

/** Envelope v2.2; which versions and actions are understood is asked apart, so that the answer can name them. */
export const Envelope = z.object({
  envelope_version: z.string().max(16),
  request_id: z.uuid(),
  correlation_id: z.uuid(),
  trace_id: z.string().max(512).describe('a W3C traceparent; another one is replaced'),
  tenant_id: Name,
  principal: z.object({ sub: Name, roles: z.array(z.string().min(1).max(64)).min(1).max(16) }),
  timestamp: z.iso.datetime({ offset: true }),
  ttl_sec: z.number().int().min(1).max(86_400),
  idempotency_key: storableText({ maxBytes: LIMITS.idempotency_key_bytes }),
  seq: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  action: z.string().min(1).max(128),
  action_version: z.string().min(1).max(32),
  context_id: storableText({ maxBytes: 256 }),
  resource_links: z.array(z.union([z.string().max(2_048), z.record(z.string(), z.unknown())])).max(100),
  payload: z
    .object({
      schema_version: z.literal('1.0'),
      args: z.record(z.string(), z.unknown()).optional(),
      artifact_uri: z.string().min(1).max(8_192).optional().describe('a signed URL of the args, as JSON'),
      artifact_hash: z
        .string()
        .regex(/^(sha256:)?[0-9a-f]{64}$/i)
        .optional(),
    })
    .refine(({ args, artifact_uri }) => (args === undefined) !== (artifact_uri === undefined), {
      error: 'args: give them, or the artifact_uri of an artifact that holds them',
    })
    .refine(
      ({ artifact_uri, artifact_hash }) => (artifact_uri === undefined) === (artifact_hash === undefined),
      {
        error: 'artifact_hash: goes with artifact_uri',
      },
    ),
});
export type Envelope = z.infer<typeof Envelope>;
