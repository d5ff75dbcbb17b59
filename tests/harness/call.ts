import type { Agent, IncomingHttpHeaders } from 'node:http';

import {
  type ErrorCode,
  type ErrorEnvelope,
  HTTP_STATUS,
  type OperationName,
  type OutputOf,
} from '@parley/protocol';

import { mcpLegacyDriver, mcpModernDriver } from './mcp-drivers.ts';
import { type Reply, send } from './send.ts';

/** What a caller got back, whatever the face. */
export interface Answer<N extends OperationName = OperationName> {
  operation: N;
  status: number;
  headers: IncomingHttpHeaders;
  result: OutputOf<N> | undefined;
  error: ErrorEnvelope['error'] | undefined;
}

export interface CallOptions {
  agent?: Agent;
  localAddress?: string;
  signal?: AbortSignal;
}

/** One protocol over which every operation can be called; cases run over each of them. */
export interface FaceDriver {
  name: string;
  call<N extends OperationName>(
    url: string,
    token: string | undefined,
    operation: N,
    input: unknown,
    options?: CallOptions,
  ): Promise<Answer<N>>;
  /** The HTTP status under which the face answers a code. */
  statusOf(code: ErrorCode): number;
}

/** `POST /v1/<operation>`. */
export const v1Driver: FaceDriver = {
  name: '/v1',
  async call(url, token, operation, input, options = {}) {
    const reply = await send(`${url}/v1/${operation}`, {
      ...options,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(input),
    });
    return toAnswer(operation, reply);
  },
  statusOf: (code) => HTTP_STATUS[code],
};

/** Every face that speaks the operations. */
export const faces: readonly FaceDriver[] = [v1Driver, mcpModernDriver, mcpLegacyDriver];

/** Reads an HTTP reply as the answer of an operation; anything that is not our JSON is an error of the test. */
export function toAnswer<N extends OperationName>(operation: N, reply: Reply): Answer<N> {
  const { status, headers, text } = reply;
  const type = headers['content-type'] ?? 'none';
  if (!type.startsWith('application/json'))
    throw new Error(`${operation} answered ${status} with content type ${type}: ${text.slice(0, 200)}`);
  const body = JSON.parse(text) as unknown;
  const failed = status !== 200;
  return {
    operation,
    status,
    headers,
    result: failed ? undefined : (body as OutputOf<N>),
    error: failed ? (body as ErrorEnvelope).error : undefined,
  };
}
