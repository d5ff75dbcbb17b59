/** Every meaning an error can have; each face maps all of them to its own wire form. */
export const ERROR_CODES = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'OUT_OF_SCOPE_WORKSPACE',
  'NOT_FOUND',
  'CONFLICT',
  'RATE_LIMITED',
  'VALIDATION_ERROR',
  'WAKE_FAILED',
  'UNMANAGED_RUNTIME',
  'HUMAN_INPUT_COLLISION',
  'CLAIM_MISMATCH',
  'INSUFFICIENT_AUTHORITY',
  'IDEMPOTENCY_CONFLICT',
  'EXPIRED',
  'UNAVAILABLE',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** What a caller may be told beside the code and the sentence: plain data only. */
export type ErrorDetails = Record<string, unknown>;

/** The one error that crosses module walls; anything else becomes INTERNAL at the gate. */
export class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message: string, details?: ErrorDetails) {
    super(message);
    this.name = 'ParleyError';
    this.code = code;
    this.details = details;
  }
}

/** The next step that each code asks for, where a refusal does not name one of its own. */
export const HINTS = {
  UNAUTHORIZED: 'send Authorization: Bearer with a token of `parley token issue` that has not run out',
  FORBIDDEN: 'whoami tells as whom you call; ask to be invited, or for a token that may do this',
  OUT_OF_SCOPE_WORKSPACE: 'leave workspace_id out, or call with a token of that workspace',
  NOT_FOUND: 'look for the id where it came from, such as list_threads, list_documents or list_agents',
  CONFLICT: 'read it again, and repeat your call if it still fits',
  RATE_LIMITED: 'wait retry_after_ms, then send the same call again',
  VALIDATION_ERROR: 'correct the field that is named; /v1/openapi.json describes every operation',
  WAKE_FAILED: 'what you said stands in the thread and is read later; check_reach tells what is in the way',
  UNMANAGED_RUNTIME:
    'what you said is read at its next turn; check_reach tells what would let the hub reach it',
  HUMAN_INPUT_COLLISION: 'a person is typing there: try again in a while',
  CLAIM_MISMATCH: 'leave the field out: the token says who you are, and whoami tells it',
  INSUFFICIENT_AUTHORITY: 'whoami tells your role; ask for a token with one that may do this',
  IDEMPOTENCY_CONFLICT: 'use a new idempotency_key: this one belongs to another call',
  EXPIRED: 'send it again with a new time',
  UNAVAILABLE:
    'try again a little later with the same idempotency_key, which settles what became of this call',
  INTERNAL: 'give the request_id to whoever runs the hub',
} as const satisfies Record<ErrorCode, string>;

/** The body of every error answer on `/v1` and, inside a tool error, on MCP. */
export interface ErrorEnvelope {
  error: { code: ErrorCode; message: string; request_id: string; details: ErrorDetails & { hint: string } };
}

/** Puts an error into the envelope that callers see. */
export function toEnvelope(error: ParleyError, requestId: string): ErrorEnvelope {
  const { code, message, details } = error;
  const { hint } = details ?? {};
  const step = typeof hint === 'string' ? hint : HINTS[code];
  return { error: { code, message, request_id: requestId, details: { ...details, hint: step } } };
}

/** The HTTP status of each code, shared by the hub's faces and the client. */
export const HTTP_STATUS = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  OUT_OF_SCOPE_WORKSPACE: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  VALIDATION_ERROR: 400,
  WAKE_FAILED: 502,
  UNMANAGED_RUNTIME: 409,
  HUMAN_INPUT_COLLISION: 409,
  CLAIM_MISMATCH: 403,
  INSUFFICIENT_AUTHORITY: 403,
  IDEMPOTENCY_CONFLICT: 409,
  EXPIRED: 440,
  UNAVAILABLE: 503,
  INTERNAL: 500,
} as const satisfies Record<ErrorCode, number>;
