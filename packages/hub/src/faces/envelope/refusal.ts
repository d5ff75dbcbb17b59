import {
  ENVELOPE_CODE,
  ENVELOPE_STATUS,
  type EnvelopeCode,
  type ErrorCode,
  type ErrorDetails,
  ParleyError,
} from '@parley/protocol';

import type { RefusalReason } from '../../auth/token-refused.ts';
import { HttpRefusal } from '../../exchange.ts';
import type { SenderNames } from './trace.ts';

const CODES: Record<EnvelopeCode, ErrorCode> = {
  INVALID_ARGUMENT: 'VALIDATION_ERROR',
  UNAUTHORIZED: 'UNAUTHORIZED',
  FORBIDDEN: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  UNPROCESSABLE_ENTITY: 'VALIDATION_ERROR',
  CONFLICT: 'CONFLICT',
  RATE_LIMIT_EXCEEDED: 'RATE_LIMITED',
  EXPIRED: 'EXPIRED',
  UNAVAILABLE: 'UNAVAILABLE',
  INTERNAL: 'INTERNAL',
};

/** A refusal in the envelope's own words. */
export class EnvelopeRefusal extends ParleyError {
  readonly envelopeCode: EnvelopeCode;

  constructor(code: EnvelopeCode, message: string, details: ErrorDetails = {}) {
    super(CODES[code], message, details);
    this.envelopeCode = code;
  }
}

/** What to do about each code, where the refusal itself does not say. */
const HINTS: Record<EnvelopeCode, string> = {
  INVALID_ARGUMENT: 'hold the envelope against version 2.2; GET /mcp/capabilities lists the actions',
  UNAUTHORIZED: 'send Authorization: Bearer with a platform token, or a fresh JWS with its own nonce',
  FORBIDDEN: 'ask for a role that may do this',
  NOT_FOUND: 'look whether the id is right and the document still there',
  UNPROCESSABLE_ENTITY: 'hold payload.args against the JSON Schema of the action',
  CONFLICT: 'read it again, then repeat your change',
  RATE_LIMIT_EXCEEDED: 'wait as long as Retry-After says',
  EXPIRED: 'send it again with a new timestamp',
  UNAVAILABLE: 'try again with the same idempotency_key',
  INTERNAL: 'give the trace_id to whoever runs the hub',
};

/** How an error looks in the envelope. */
export function toWire(error: ParleyError, traceId: string, names: SenderNames) {
  const code = codeOf(error);
  // Without a word the same for all, so that the lack of one tells nothing.
  const byDefault: ErrorDetails =
    code === 'UNAUTHORIZED' ? { reason: 'invalid_token' satisfies RefusalReason } : {};
  const { hint = HINTS[code], ...details } = { ...byDefault, ...error.details };
  const status = error instanceof HttpRefusal && error.status === 405 ? 405 : ENVELOPE_STATUS[code];
  return {
    code,
    status,
    body: {
      ok: false,
      error: { code, message: error.message, details: { ...details, hint, trace_id: traceId } },
      ...names,
    },
  };
}

function codeOf(error: ParleyError): EnvelopeCode {
  if (error instanceof EnvelopeRefusal) return error.envelopeCode;
  // What HTTP itself does not allow is no fault of the arguments.
  if (error instanceof HttpRefusal && (error.code === 'VALIDATION_ERROR' || error.status === 405))
    return 'INVALID_ARGUMENT';
  return ENVELOPE_CODE[error.code];
}
