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

/** The body of every error answer on `/v1` and, inside a tool error, on MCP. */
export interface ErrorEnvelope {
  error: { code: ErrorCode; message: string; request_id: string; details?: ErrorDetails };
}

/** Puts an error into the envelope that callers see. */
export function toEnvelope(error: ParleyError, requestId: string): ErrorEnvelope {
  const { code, message, details } = error;
  return { error: { code, message, request_id: requestId, ...(details === undefined ? {} : { details }) } };
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
