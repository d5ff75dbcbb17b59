import { type ErrorEnvelope, HTTP_STATUS, type OperationName, type OutputOf } from '@parley/protocol';

import type { Answer, FaceDriver } from './face-driver.ts';
import { mcpLegacyDriver, mcpModernDriver } from './mcp-drivers.ts';
import { type Reply, send } from './send.ts';

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
