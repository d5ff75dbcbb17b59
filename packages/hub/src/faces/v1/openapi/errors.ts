import { ERROR_CODES, type ErrorCode, HTTP_STATUS } from '@parley/protocol';

import type { Components, Json } from '../../../schema-components.ts';

const text = (description: string): Json => ({ type: 'string', description });
const wait: Json = {
  type: 'integer',
  description: 'how long to wait before the next try; Retry-After says the same in seconds',
};

const number = (description: string): Json => ({ type: 'integer', description });
const list = (description: string, items: Json = { type: 'string' }): Json => ({
  type: 'array',
  items,
  description,
});
const FIELD = text('the field it is about');
const WAKE: Json = {
  trigger_id: text('the wake'),
  target_agent_id: text('who was to be woken'),
  passed: list('each door that was tried, and why it did not open', {}),
};

/** What `details` holds beside each code and the next step; more may come. */
const DETAILS: Record<ErrorCode, Json> = {
  UNAUTHORIZED: {
    reason: text('why the token was refused, where that gives nothing away'),
    limit_ms: number('how long a token may live, where it lives too long'),
    sign_in_at: text('where a person signs in'),
  },
  FORBIDDEN: { reason: text('such as muted, paused, passkey_needed'), field: FIELD },
  OUT_OF_SCOPE_WORKSPACE: { field: FIELD },
  NOT_FOUND: {
    field: FIELD,
    reason: text('such as agent_not_found'),
    document_id: text('the document that is not there'),
    parent_id: text('the parent that is not there'),
    artifact_id: text('the artifact that is not there'),
    delivery_id: text('the delivery that is not there'),
  },
  CONFLICT: {
    reason: text('such as several_sessions, still_there, newer_error, no_passkey'),
    field: FIELD,
    expected_revision: number('of a document: what you said it was'),
    actual: number('of a document: what it is'),
    document_id: text('the document that is in the way'),
    sessions: list('of an agent: those that could be meant', {}),
    ask: { type: 'object', description: 'the ask as it was settled' },
    from: text('of a thread: the status it has'),
    to: text('of a thread: the status you wanted'),
    legal: list('of a thread: the statuses that can follow'),
    lease: text('what another process sees to'),
    holder: text('of a terminal: who types there'),
    until: text('of a terminal: how long they hold it'),
  },
  RATE_LIMITED: { retry_after_ms: wait },
  VALIDATION_ERROR: {
    field: text('the first field that is wrong'),
    issues: list('each field that is wrong', {
      type: 'object',
      required: ['field', 'message'],
      properties: { field: { type: 'string' }, message: { type: 'string' } },
    }),
    supported: list('the values that are understood', {}),
    options: list('of an ask: the ids of what it offers'),
    capabilities: list('of an agent: the commands it takes'),
    reason: text('such as not_listed, repeated_id'),
    position: number('of a stream: where the log stands'),
    max_bytes: number('how large it may be'),
  },
  WAKE_FAILED: {
    reason: text('why the target could not be woken'),
    ...WAKE,
  },
  UNMANAGED_RUNTIME: {
    reason: text('why the target cannot be woken from here'),
    ...WAKE,
  },
  HUMAN_INPUT_COLLISION: {
    reason: text('who is typing'),
    waited_ms: number('how long it waited for a quiet prompt'),
    ...WAKE,
  },
  CLAIM_MISMATCH: { field: text('the field that differs from the token') },
  INSUFFICIENT_AUTHORITY: {
    role: text('the role of your token'),
    field: FIELD,
    control: text('the control that was refused'),
    from: text('of a thread: the status it has'),
    to: text('of a thread: the status you wanted'),
    finding: text('the finding it is about'),
    reported_by: text('who reported the finding'),
  },
  IDEMPOTENCY_CONFLICT: { field: FIELD },
  EXPIRED: {},
  UNAVAILABLE: {
    retry_after_ms: wait,
    reason: text('such as at_capacity, slow_reader'),
    limit: number('how much may be under way at once'),
    last_seen: text('when the agent was last there'),
    timeout_ms: number('how long the agent had'),
    missing: list('what could not be asked'),
    unknown: { type: 'boolean', description: 'nobody knows whether it was written' },
  },
  INTERNAL: {
    thread_id: text('the thread whose record is damaged'),
    seq: number('the entry that is damaged'),
  },
};

/** What each code means, in a sentence. */
export const MEANING: Record<ErrorCode, string> = {
  UNAUTHORIZED: 'There is no good token.',
  FORBIDDEN: 'Not allowed: this role, device, Host or Origin.',
  OUT_OF_SCOPE_WORKSPACE: 'It is of another workspace.',
  NOT_FOUND: 'It is not there, or not for you to see.',
  CONFLICT: 'The state of things stands in the way.',
  RATE_LIMITED: 'Too many calls; wait as long as Retry-After says.',
  VALIDATION_ERROR: 'The request is not well formed.',
  WAKE_FAILED: 'The target could not be woken.',
  UNMANAGED_RUNTIME: 'The target runs where the hub cannot reach it.',
  HUMAN_INPUT_COLLISION: 'A person is typing there.',
  CLAIM_MISMATCH: 'A field names somebody else than the token does.',
  INSUFFICIENT_AUTHORITY: 'The role of the token does not allow it.',
  IDEMPOTENCY_CONFLICT: 'The same idempotency_key was used for something else.',
  EXPIRED: 'It came too late.',
  UNAVAILABLE: 'The hub cannot now; the same idempotency_key settles what became of the call.',
  INTERNAL: 'A fault of the hub; the request id leads to it.',
};

/** The headers that answers carry. */
export const HEADERS: Record<string, Json> = {
  'X-Request-Id': {
    description: 'Leads to the call in the log of the hub.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
  Deprecation: {
    description: 'Where the operation is to end: since when that is known, as @ and seconds (RFC 9745).',
    schema: { type: 'string' },
  },
  Sunset: { description: 'Where the operation is to end: when (RFC 8594).', schema: { type: 'string' } },
  ETag: { description: 'Send it back as If-None-Match.', schema: { type: 'string' } },
};

/** References to headers, by name. */
export function headers(...names: string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** What stands beside a code: always the next step. */
function detailsOf(properties: Json = {}): Json {
  const hint = text('the next step, for whoever has to take it');
  return { type: 'object', required: ['hint'], properties: { hint, ...properties } };
}

/** The schema of a refusal with this code. */
function errorSchema(components: Components, code: ErrorCode): Json {
  const properties = DETAILS[code];
  return components.named(`${pascal(code)}Error`, {
    type: 'object',
    description: MEANING[code],
    ...errorBody({ const: code }, properties),
  });
}

/** What every refusal says: its code, and what belongs to that. */
export function errorBody(code: Json, details?: Json): Json {
  return {
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id', 'details'],
        properties: {
          code: { type: 'string', ...code },
          message: { type: 'string' },
          request_id: { type: 'string' },
          details: detailsOf(details),
        },
      },
    },
  };
}

/** A response of an error status with one of these codes. */
export function errorResponse(components: Components, codes: readonly ErrorCode[]): Json {
  const schemas = codes.map((code) => errorSchema(components, code));
  const isWaiting = codes.some((code) => code === 'RATE_LIMITED' || code === 'UNAVAILABLE');
  return {
    description: codes.map((code) => `${code}: ${MEANING[code]}`).join(' '),
    headers: headers('X-Request-Id', ...(isWaiting ? ['Retry-After'] : [])),
    content: {
      'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } },
    },
  };
}

/** The responses of all these codes, by status; bodies that are too large or no JSON have statuses of their own. */
export function errorResponses(
  components: Components,
  responses: Record<string, Json>,
  codes: readonly ErrorCode[],
  { hasBody, refusesBytes = false }: { hasBody: boolean; refusesBytes?: boolean },
): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  const add = (status: number, code: ErrorCode): void => {
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  };
  for (const code of ERROR_CODES) if (codes.includes(code)) add(HTTP_STATUS[code], code);
  if (hasBody) for (const status of [413, 415]) add(status, 'VALIDATION_ERROR');
  if (refusesBytes) add(422, 'VALIDATION_ERROR');
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, some]) => {
        const name = `${status}${some.map(pascal).join('')}`;
        responses[name] ??= errorResponse(components, some);
        return [String(status), { $ref: `#/components/responses/${name}` }];
      }),
  );
}

/** CREATE_THREAD or create_thread as CreateThread. */
export function pascal(name: string): string {
  return name
    .toLowerCase()
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}
