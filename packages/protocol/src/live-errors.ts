import { type ErrorCode, type ErrorDetails, HINTS, ParleyError } from './errors.ts';

/** The seven words for trouble on `/ws`. */
export const LIVE_CODES = [
  'INVALID_COMMAND',
  'UNAUTHORIZED',
  'AGENT_NOT_FOUND',
  'AGENT_OFFLINE',
  'TASK_TIMEOUT',
  'RESOURCE_EXHAUSTED',
  'INTERNAL_ERROR',
] as const;
export type LiveCode = (typeof LIVE_CODES)[number];

/** How each of the hub's codes reads on `/ws`; the hub's own word stands in `details.code`. */
export const LIVE_CODE = {
  UNAUTHORIZED: 'UNAUTHORIZED',
  FORBIDDEN: 'UNAUTHORIZED',
  OUT_OF_SCOPE_WORKSPACE: 'UNAUTHORIZED',
  NOT_FOUND: 'INVALID_COMMAND',
  CONFLICT: 'INVALID_COMMAND',
  RATE_LIMITED: 'RESOURCE_EXHAUSTED',
  VALIDATION_ERROR: 'INVALID_COMMAND',
  WAKE_FAILED: 'AGENT_OFFLINE',
  UNMANAGED_RUNTIME: 'AGENT_OFFLINE',
  HUMAN_INPUT_COLLISION: 'RESOURCE_EXHAUSTED',
  CLAIM_MISMATCH: 'UNAUTHORIZED',
  INSUFFICIENT_AUTHORITY: 'UNAUTHORIZED',
  IDEMPOTENCY_CONFLICT: 'INVALID_COMMAND',
  EXPIRED: 'TASK_TIMEOUT',
  UNAVAILABLE: 'RESOURCE_EXHAUSTED',
  INTERNAL: 'INTERNAL_ERROR',
} as const satisfies Record<ErrorCode, LiveCode>;

/** The HTTP status under which the fallback answers each code. */
export const LIVE_HTTP_STATUS = {
  INVALID_COMMAND: 400,
  UNAUTHORIZED: 403,
  AGENT_NOT_FOUND: 404,
  AGENT_OFFLINE: 409,
  TASK_TIMEOUT: 504,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL_ERROR: 500,
} as const satisfies Record<LiveCode, number>;

/** The next step that each word asks for, where a refusal does not name one of its own. */
const LIVE_HINTS: Record<LiveCode, string> = {
  INVALID_COMMAND: 'correct what is named; /v1/asyncapi.json describes every message',
  UNAUTHORIZED: 'the command whoami tells as whom you speak; connect with a token that may do this',
  AGENT_NOT_FOUND: 'the command list_agents tells who is known',
  AGENT_OFFLINE: 'post a message in a thread instead: it is read when the agent is back',
  TASK_TIMEOUT: 'the agent may still be at it: look before you send the command again',
  RESOURCE_EXHAUSTED: 'wait a little, then send it again',
  INTERNAL_ERROR: 'tell whoever runs the hub',
};

/** A refusal in the words of `/ws`. */
export class LiveError extends Error {
  readonly code: LiveCode;
  readonly details: ErrorDetails;

  constructor(code: LiveCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = 'LiveError';
    this.code = code;
    this.details = { hint: LIVE_HINTS[code], ...details };
  }
}

/** Any refusal of the hub in the words of `/ws`; what is no refusal is INTERNAL_ERROR and says nothing more. */
export function toLiveError(error: unknown): LiveError {
  if (error instanceof LiveError) return error;
  if (!(error instanceof ParleyError))
    return new LiveError('INTERNAL_ERROR', 'something went wrong inside the hub');
  const { code, message, details } = error;
  return new LiveError(LIVE_CODE[code], message, {
    hint: HINTS[code],
    ...details,
    ...(code === 'RATE_LIMITED' ? { reason: 'rate_limited' } : {}),
    code,
  });
}
