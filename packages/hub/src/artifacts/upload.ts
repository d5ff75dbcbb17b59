import type { Hub } from '@parley/core';
import { type Caller, CONTRACTS, ParleyError } from '@parley/protocol';

import { type Exchange, HttpRefusal } from '../exchange.ts';
import { readQuery } from '../query.ts';
import { requestContext } from '../request-context.ts';

/** Takes the body of a request as an artifact, as it arrives; its query names it, its type is the Content-Type. */
export async function uploadArtifact(
  hub: Hub,
  exchange: Exchange,
  caller: Caller,
  waiting: Set<AbortController>,
): Promise<Record<string, unknown>> {
  const { request, query } = exchange;
  const { headers } = request;
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new HttpRefusal(415, 'VALIDATION_ERROR', 'compressed bodies are not accepted');
  const { content: _text, content_base64: _bytes, ...said } = readQuery(CONTRACTS.put_artifact.input, query);
  const mime_type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const key = headers['idempotency-key'];
  const input = { ...(typeof key === 'string' ? { idempotency_key: key } : {}), ...said, mime_type };
  const { request_id, signal } = requestContext(exchange, waiting);
  return hub.call(caller, 'put_artifact', input, { request_id, signal, body: piecesOf(exchange) });
}

/** The body in pieces; the connection stays, so that a refusal can be answered while it still arrives. */
async function* piecesOf({ request }: Exchange): AsyncGenerator<Uint8Array> {
  try {
    // Without an encoding its pieces are bytes.
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch {
    throw new ParleyError('VALIDATION_ERROR', 'the request broke off');
  }
}
