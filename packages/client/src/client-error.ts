import { type ErrorCode, ERROR_CODES, type ErrorDetails, ParleyError, isOneOf } from '@parley/protocol';

interface Facts {
  details?: ErrorDetails | undefined;
  request_id?: string | undefined;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
}

/** What the hub refused, or that it gave no answer; without a status the outcome of the call is unknown. */
export class ClientError extends ParleyError {
  /** Leads to the call in the hub's log. */
  readonly request_id: string | undefined;
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** How long the hub asked to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, facts: Facts = {}) {
    super(code, message, facts.details);
    this.name = 'ClientError';
    this.request_id = facts.request_id;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** True for an error that a client of this package threw, whichever copy of it; with a code, for that alone. */
export function isClientError(error: unknown, code?: ErrorCode): error is ClientError {
  if (!(error instanceof Error && error.name === 'ClientError' && 'code' in error)) return false;
  return code === undefined || error.code === code;
}

/** The error behind an answer that is not 2xx: the hub's own envelope, or what a proxy on the way said. */
export function toClientError(status: number, text: string, headers: Pick<Headers, 'get'>): ClientError {
  const envelope = readEnvelope(text);
  if (envelope === undefined) {
    const code = CODE_BY_STATUS[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INTERNAL');
    return new ClientError(code, `the hub's address answered ${status} without saying why`, {
      status,
      request_id: headers.get('x-request-id') ?? undefined,
      retryAfterMs: retryAfter(undefined, headers),
    });
  }
  const { code, message, request_id, details } = envelope;
  return new ClientError(code, message, {
    status,
    details,
    request_id,
    retryAfterMs: retryAfter(details, headers),
  });
}

/** No answer came: the call may have happened or not, and its idempotency key settles which. */
export function noAnswer(url: string, why: string): ClientError {
  return new ClientError('UNAVAILABLE', `no answer from ${url}: ${why}`, { details: { outcome: 'unknown' } });
}

/** True when the same call may well succeed a little later. */
export function isTransient({ status, code }: ClientError): boolean {
  return status === undefined || code === 'RATE_LIMITED' || code === 'UNAVAILABLE';
}

const CODE_BY_STATUS: Partial<Record<number, ErrorCode>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  429: 'RATE_LIMITED',
};

interface Envelope {
  code: ErrorCode;
  message: string;
  request_id: string | undefined;
  details: ErrorDetails | undefined;
}

function readEnvelope(text: string): Envelope | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  // What is wanted of it is checked below.
  const error = (parsed as { error?: Partial<Envelope> } | null)?.error;
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined;
  const known = isOneOf(ERROR_CODES, error.code);
  return {
    code: known ? error.code : 'INTERNAL',
    message: known ? error.message : `${error.code}: ${error.message}`,
    request_id: error.request_id,
    details: error.details,
  };
}

function retryAfter(details: ErrorDetails | undefined, headers: Pick<Headers, 'get'>): number | undefined {
  const exact = details?.['retry_after_ms'];
  if (typeof exact === 'number') return exact;
  const header = headers.get('retry-after');
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const moment = Date.parse(header);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - Date.now());
}
