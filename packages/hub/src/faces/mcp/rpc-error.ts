import type { ErrorCode, ParleyError } from '@parley/protocol';

import { type Exchange, HttpRefusal, sendError } from '../../exchange.ts';

/** The JSON-RPC code of a refusal before any method ran; `data.code` says the meaning. */
const RPC_CODE = {
  UNAUTHORIZED: -32_000,
  FORBIDDEN: -32_000,
  OUT_OF_SCOPE_WORKSPACE: -32_000,
  NOT_FOUND: -32_000,
  CONFLICT: -32_000,
  RATE_LIMITED: -32_000,
  VALIDATION_ERROR: -32_600,
  WAKE_FAILED: -32_000,
  UNMANAGED_RUNTIME: -32_000,
  HUMAN_INPUT_COLLISION: -32_000,
  CLAIM_MISMATCH: -32_000,
  INSUFFICIENT_AUTHORITY: -32_000,
  IDEMPOTENCY_CONFLICT: -32_000,
  EXPIRED: -32_000,
  UNAVAILABLE: -32_000,
  INTERNAL: -32_603,
} as const satisfies Record<ErrorCode, number>;

/** A refusal with a JSON-RPC code of its own. */
export class RpcRefusal extends HttpRefusal {
  readonly rpcCode: number;

  constructor(
    status: number,
    rpcCode: number,
    code: ErrorCode,
    message: string,
    headers: Record<string, string> = {},
  ) {
    super(status, code, message, headers);
    this.rpcCode = rpcCode;
  }
}

/** Bytes that are no JSON we would keep. */
export function parseError(error: ParleyError): RpcRefusal {
  return new RpcRefusal(400, -32_700, 'VALIDATION_ERROR', `Parse error: ${error.message}`);
}

/** A session that is not there, or not this caller's: the client must begin a new one. */
export function noSuchSession(): RpcRefusal {
  return new RpcRefusal(404, -32_001, 'NOT_FOUND', 'Session not found: initialize again');
}

/** The token of a running call has ceased to be good. */
export function tokenEnded(): RpcRefusal {
  return new RpcRefusal(401, -32_000, 'UNAUTHORIZED', 'the token is no longer good');
}

/** Answers a refusal in JSON-RPC, with the same HTTP status and hints as on `/v1`. */
export function sendRpcError(exchange: Exchange, error: ParleyError, challenge?: string): void {
  const code = error instanceof RpcRefusal ? error.rpcCode : RPC_CODE[error.code];
  const data = { code: error.code, request_id: exchange.request_id, ...error.details };
  const body = { jsonrpc: '2.0', id: null, error: { code, message: error.message, data } };
  sendError(exchange, error, body, challenge === undefined ? {} : { 'www-authenticate': challenge });
}
