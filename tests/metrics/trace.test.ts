import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { modern, MODERN_META } from '../harness/mcp-wire.ts';
import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
const TRACE = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
const spanOf = (n: number): string => `00-${'1'.repeat(32)}-${String(n).padStart(16, '3')}-01`;

async function post(thread_id: string, headers: Record<string, string>, more: object = {}) {
  const { token } = scene.as('ann');
  const { text, status } = await send(`${scene.hub.url}/v1/post_message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ thread_id, schema_version: 1, body: 'hello', ...more }),
  });
  return { status, answer: JSON.parse(text) as { seq: number; message_id: string } };
}

test('[KNOW-23] the trace of a call goes with what it wrote, and into the log line', async () => {
  const ann = scene.as('ann');
  const thread = await ann.thread();
  await post(thread, { traceparent: TRACE, tracestate: 'vendor=abc' });
  await post(thread, { traceparent: 'nonsense', tracestate: 'vendor=abc' });
  await post(thread, { traceparent: TRACE }, { metadata: { traceparent: 'my own', note: 1 } });
  const { messages } = await ann.ok('read_messages', { thread_id: thread });
  expect(messages.map(({ metadata }) => metadata)).toEqual([
    { traceparent: TRACE, tracestate: 'vendor=abc' },
    undefined,
    { traceparent: 'my own', note: 1 },
  ]);
  await expect.poll(() => scene.hub.stderr()).toContain(`"trace":"${TRACE}"`);
});

test('[KNOW-23] a repeat is another span of the same call: one message, with the trace of the first', async () => {
  const ann = scene.as('ann');
  const thread = await ann.thread();
  const key = { idempotency_key: randomUUID() };
  const first = await post(thread, { traceparent: spanOf(1) }, key);
  const again = await post(thread, { traceparent: spanOf(2) }, key);
  expect(again).toEqual(first);
  const { messages } = await ann.ok('read_messages', { thread_id: thread });
  expect(messages.map(({ metadata }) => metadata?.['traceparent'])).toEqual([spanOf(1)]);
});

test('[KNOW-23] over MCP the trace comes in _meta', async () => {
  const ann = scene.as('ann');
  const thread_id = await ann.thread();
  const params = {
    name: 'post_message',
    arguments: { thread_id, schema_version: 1, body: 'hello' },
    _meta: { ...MODERN_META, traceparent: TRACE, tracestate: 'vendor=abc' },
  };
  expect((await modern(scene.hub.url, ann.token, 'tools/call', params)).status).toBe(200);
  const { messages } = await ann.ok('read_messages', { thread_id });
  expect(messages[0]?.metadata).toEqual({ traceparent: TRACE, tracestate: 'vendor=abc' });
});
