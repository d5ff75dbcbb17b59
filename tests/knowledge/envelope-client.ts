import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { type EnvelopeAction, ENVELOPE_STATUS, type EnvelopeCode } from '@parley/protocol';
import { expect } from 'vitest';

import { send } from '../harness/send.ts';
import type { Signer } from '../harness/tokens.ts';

/** What came back. */
export interface EnvelopeAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** What the sender called its envelope, where it was one. */
  sent: { request_id?: unknown; correlation_id?: unknown };
  body: {
    request_id?: string;
    correlation_id?: string;
    ok: boolean;
    data?: Record<string, unknown>;
    usage?: { latency_ms: number; qdrant_hits: number };
    error?: { code: string; message: string; details: Record<string, unknown> };
  };
}

export type Fields = Record<string, unknown>;

let seq = 0;

/** A good envelope; whatever is given replaces a field, undefined drops it. */
export function envelopeOf(action: EnvelopeAction | (string & {}), args: Fields, more: Fields = {}): Fields {
  return {
    envelope_version: '2.2',
    request_id: randomUUID(),
    correlation_id: randomUUID(),
    trace_id: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
    tenant_id: 'w1',
    principal: { sub: 'ed', roles: ['editor'] },
    timestamp: new Date().toISOString(),
    ttl_sec: 300,
    idempotency_key: randomUUID(),
    seq: ++seq,
    action,
    action_version: '1.0.0',
    context_id: randomUUID(),
    resource_links: [],
    payload: { schema_version: '1.0', args },
    ...more,
  };
}

/** Sends whatever it is given. */
export async function sendEnvelope(
  url: string,
  token: string | undefined,
  envelope: unknown,
  options: { path?: string; headers?: Record<string, string> } = {},
): Promise<EnvelopeAnswer> {
  const reply = await send(`${url}${options.path ?? '/mcp/envelope'}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    body: typeof envelope === 'string' ? envelope : JSON.stringify(envelope),
  });
  const { status, headers } = reply;
  const sent = typeof envelope === 'object' && envelope !== null ? envelope : {};
  const answer = { status, headers, sent, body: JSON.parse(reply.text) as EnvelopeAnswer['body'] };
  expect(headers['x-ratelimit-limit']).toMatch(/^\d+$/);
  expect(headers['x-ratelimit-remaining']).toMatch(/^\d+$/);
  return answer;
}

/** The data of an answer that must be good, in the exact form of success. */
export function good({ status, sent, body }: EnvelopeAnswer): Fields {
  const { request_id, correlation_id } = sent;
  expect([status, body]).toEqual([
    200,
    {
      ok: true,
      data: expect.any(Object) as unknown,
      usage: { latency_ms: expect.any(Number) as unknown, qdrant_hits: 0 },
      request_id,
      correlation_id,
    },
  ]);
  return body.data ?? {};
}

/** The error of an answer that must be a refusal, in the exact form of one. */
export function bad({ status, body }: EnvelopeAnswer, code: EnvelopeCode): Fields {
  expect([body.error?.code, status, body.error?.message]).toEqual([
    code,
    ENVELOPE_STATUS[code],
    body.error?.message,
  ]);
  expect(body.ok).toBe(false);
  expect(body.error?.message).toMatch(/\S/);
  expect(body.error?.details['hint']).toMatch(/\S/);
  expect(body.error?.details['trace_id']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
  return body.error?.details ?? {};
}

/** The arguments of a new document. */
export function newPage(more: Fields = {}): Fields & { document_id: string } {
  return {
    document_id: randomUUID(),
    parent_id: 'root',
    content: { mime_type: 'text/markdown', body: '# Hello' },
    metadata: { title: 'hello' },
    ...more,
  };
}

/** A JWS as outsiders sign it; undefined drops a claim. */
export function jws(signer: Signer, claims: Fields = {}, header: Fields = {}): string {
  const iat = Math.floor(Date.now() / 1_000);
  const usual = { sub: 'svc:partner', aud: 'parley', iat, exp: iat + 300, nonce: randomUUID() };
  return signer.craft({ ...usual, ...claims }, header);
}
