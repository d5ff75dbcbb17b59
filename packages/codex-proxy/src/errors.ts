import { fieldsOf } from '@parley/protocol';

/** JSON-RPC's own codes, as far as the proxy uses them. */
export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** As editors and their servers have it: whoever asked took it back. */
  cancelled: -32_800,
} as const;

const RPC_NAMES: Readonly<Record<number, string>> = {
  [RPC.parseError]: 'PARSE_ERROR',
  [RPC.invalidRequest]: 'INVALID_REQUEST',
  [RPC.methodNotFound]: 'METHOD_NOT_FOUND',
  [RPC.invalidParams]: 'INVALID_PARAMS',
  [RPC.internal]: 'INTERNAL_ERROR',
  [RPC.cancelled]: 'REQUEST_CANCELLED',
};

/** The proxy's own codes; the name always travels beside the number. */
const PROXY_CODES = {
  IDENTITY_CONFLICT: -32_001,
  SESSION_NOT_FOUND: -32_002,
  SESSION_CLOSED: -32_003,
  MAX_SESSIONS_EXCEEDED: -32_004,
  CHILD_PROCESS_DEAD: -32_005,
  REQUEST_TIMEOUT: -32_006,
  INVALID_SESSION_PARAMS: -32_007,
  AGENT_FILE_NOT_FOUND: -32_008,
  IDENTITY_REQUIRED: -32_009,
} as const;

export type ProxyErrorName = keyof typeof PROXY_CODES;

export type ErrorData = Record<string, unknown>;

/** The one error that becomes a JSON-RPC error as it stands; anything else is internal. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: ErrorData | undefined;

  constructor(code: number, message: string, data?: ErrorData) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/** An error of the proxy itself. */
export function proxyError(name: ProxyErrorName, message: string, data: ErrorData = {}): RpcError {
  return new RpcError(PROXY_CODES[name], message, { error_source: 'proxy', error_name: name, ...data });
}

/** An error in JSON-RPC's own terms that the proxy has found, not the child. */
export function rpcError(code: (typeof RPC)[keyof typeof RPC], message: string): RpcError {
  return new RpcError(code, message, { error_source: 'proxy', error_name: RPC_NAMES[code] });
}

/** A method that this server does not have. */
export function methodNotFound(method: string): RpcError {
  return rpcError(RPC.methodNotFound, `Method not found: ${method}`);
}

/** Arguments that are no valid call of a tool at all. */
export function invalidParams(message: string): RpcError {
  return rpcError(RPC.invalidParams, message);
}

/** An error of the child, with its own code and words where it has them. */
export function childError(message: string, original: unknown, data: ErrorData = {}): RpcError {
  const { code } = fieldsOf(original);
  return new RpcError(typeof code === 'number' ? code : RPC.internal, message, {
    error_source: 'child',
    error_name: 'CHILD_ERROR',
    child_error: original,
    ...data,
  });
}
