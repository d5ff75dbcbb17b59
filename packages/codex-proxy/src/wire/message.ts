import { decodeJson, errorText, isFields, fieldsOf } from '@parley/protocol';

import { type ErrorData, RPC, rpcError, type RpcError } from '../errors.ts';

export type RpcId = string | number | null;

export type Params = Record<string, unknown>;

/** What the other side may say, and what it said when it was none of that. */
export type Incoming =
  | { kind: 'request'; id: RpcId; method: string; params: Params }
  | { kind: 'notification'; method: string; params: Params }
  | { kind: 'response'; id: RpcId; result?: unknown; error?: RpcFault }
  | { kind: 'invalid'; id: RpcId; error: RpcFault };

export interface RpcFault {
  code: number;
  message: string;
  data?: ErrorData;
}

const LIMITS = { depth: 128, items: 200_000, anyNumber: true };
const MOST_IN_BATCH = 1_000;

/** Reads one message, or a list of them where batches are allowed; strictly: whatever is none is answered, never guessed at. */
export function readMessage(bytes: Uint8Array, allowsBatch: boolean): Incoming | Incoming[] {
  let value: unknown;
  try {
    value = decodeJson(bytes, LIMITS);
  } catch (error) {
    return invalid(askerOf(bytes), RPC.parseError, `Parse error: ${errorText(error)}`);
  }
  if (!Array.isArray(value)) return readOne(value);
  if (!allowsBatch) return invalid(null, RPC.invalidRequest, 'Invalid request: a message is one object');
  if (value.length === 0 || value.length > MOST_IN_BATCH)
    return invalid(null, RPC.invalidRequest, `Invalid request: a batch holds 1 to ${MOST_IN_BATCH} messages`);
  return value.map((one) => {
    const message = readOne(one);
    return message.kind === 'request' && message.method === 'initialize'
      ? invalid(message.id, RPC.invalidRequest, 'Invalid request: initialize is no part of a batch')
      : message;
  });
}

/** The id of a request that is JSON and yet refused, such as one with half a character in a prompt: whoever asked must hear of it. */
function askerOf(bytes: Uint8Array): RpcId {
  const text = Buffer.from(bytes).toString();
  const idsIn = (json: string): number => json.match(/"id"\s*:/g)?.length ?? 0;
  try {
    const value: unknown = JSON.parse(text);
    const { id, method } = fieldsOf(value);
    // Of two ids nobody knows which is meant.
    return isId(id) && typeof method === 'string' && idsIn(text) === idsIn(JSON.stringify(value)) ? id : null;
  } catch {
    return null;
  }
}

function readOne(value: unknown): Incoming {
  if (!isFields(value)) return invalid(null, RPC.invalidRequest, 'Invalid request: a message is one object');
  const message = value;
  const { jsonrpc, method, params = {} } = message;
  const id = isId(message['id']) ? message['id'] : null;
  if (jsonrpc !== '2.0') return invalid(id, RPC.invalidRequest, 'Invalid request: jsonrpc is not "2.0"');
  if (message['id'] !== undefined && !isId(message['id']))
    return invalid(null, RPC.invalidRequest, 'Invalid request: an id is a string or a number');
  if (method === undefined) return readResponse(message, id);
  if (typeof method !== 'string')
    return invalid(id, RPC.invalidRequest, 'Invalid request: method is no string');
  if (!isFields(params))
    return message['id'] === undefined
      ? { kind: 'notification', method, params: {} }
      : invalid(id, RPC.invalidParams, 'Invalid params: params is no object');
  if (message['id'] === undefined) return { kind: 'notification', method, params };
  return { kind: 'request', id, method, params };
}

function readResponse(message: Record<string, unknown>, id: RpcId): Incoming {
  const { result, error } = message;
  if (message['id'] === undefined || (result === undefined) === (error === undefined))
    return invalid(id, RPC.invalidRequest, 'Invalid request: neither a request nor a response');
  return error === undefined
    ? { kind: 'response', id, result }
    : // It is passed on as it came.
      { kind: 'response', id, error: error as RpcFault };
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === 'string' || typeof id === 'number';
}

function invalid(id: RpcId, code: (typeof RPC)[keyof typeof RPC], message: string): Incoming {
  return { kind: 'invalid', id, error: faultOf(rpcError(code, message)) };
}

/** An error as it stands on the wire. */
export function faultOf({ code, message, data }: RpcError): RpcFault {
  return { code, message, ...(data === undefined ? {} : { data }) };
}
