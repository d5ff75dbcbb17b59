import { gunzipSync } from 'node:zlib';

import type { InputOf, OperationName, OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { EXAMPLE_IDS, EXAMPLES } from '../../packages/hub/src/faces/v1/openapi/examples.ts';
import { send } from '../harness/send.ts';
import { createChecks } from '../harness/surface-checks.ts';
import { describedSurface } from '../harness/surface.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
const surface = describedSurface();

type Schema = Record<string, unknown>;

/** Every schema inside a document, with where it stands. */
function* schemasIn(value: unknown, at = '#'): Generator<[string, Schema]> {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value) && 'type' in value && typeof value.type === 'string') yield [at, value];
  for (const [key, item] of Object.entries(value)) yield* schemasIn(item, `${at}/${key}`);
}

test('the hub serves the descriptions that the tests hold its answers against', async () => {
  const { url } = scene.hub;
  for (const [path, made] of [
    ['/v1/openapi.json', surface.openapi],
    ['/v1/asyncapi.json', surface.asyncapi],
  ] as const) {
    const { text } = await send(url + path);
    const host = new URL(url).host;
    expect(JSON.parse(text.replaceAll(host, '127.0.0.1:8620'))).toEqual(JSON.parse(JSON.stringify(made)));
    expect(text).toContain(host);
  }
});

test('what a schema requires it also describes, properties called id among them', () => {
  const lacking: string[] = [];
  let ids = 0;
  for (const document of [surface.openapi, surface.asyncapi])
    for (const [at, { required, properties = {} }] of schemasIn(document)) {
      if (Object.hasOwn(properties as object, 'id')) ids++;
      for (const name of (required ?? []) as string[])
        if (Array.isArray(required) && !Object.hasOwn(properties as object, name))
          lacking.push(`${at} ${name}`);
    }
  expect(lacking).toEqual([]);
  expect(ids).toBeGreaterThan(15);
});

test('answers are open to new fields, and requests that decide something are not', () => {
  const { schemas } = (surface.openapi as { components: { schemas: Record<string, Schema> } }).components;
  for (const [name, schema] of Object.entries(schemas).filter(([one]) => one.endsWith('Result')))
    for (const [at, { additionalProperties }] of schemasIn(schema, name))
      expect([at, additionalProperties === false]).toEqual([at, false]);
  expect(schemas['AnswerAskInput']?.['additionalProperties']).toBe(false);
});

test('descriptions come compressed where that is asked for, and are kept by their tag', async () => {
  for (const path of ['/v1/openapi.json', '/v1/asyncapi.json']) {
    const plain = await fetch(scene.hub.url + path, { headers: { 'accept-encoding': 'identity' } });
    const text = await plain.text();
    expect(plain.headers.get('content-encoding')).toBeNull();
    const etag = plain.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const { status, bytes, headers } = await raw(scene.hub.url + path, { 'accept-encoding': 'gzip, br' });
    expect([status, headers['content-encoding'], headers['etag']]).toEqual([200, 'gzip', etag]);
    expect(gunzipSync(bytes).toString()).toBe(text);
    expect(bytes.length).toBeLessThan(text.length / 4);
    expect((await raw(scene.hub.url + path, { 'if-none-match': etag })).status).toBe(304);
    expect((await raw(scene.hub.url + path, { 'if-none-match': '"x"' })).status).toBe(200);
  }
});

test('the examples of the description run as they stand', async () => {
  const alice = scene.as('alice', { role: 'orchestrator' });
  let ids: Record<string, string> = {};
  for (const [name, example] of Object.entries(EXAMPLES) as [OperationName, object][]) {
    let text = JSON.stringify(example);
    for (const [word, id] of Object.entries(EXAMPLE_IDS)) text = text.replaceAll(id, ids[word] ?? id);
    const answer = await alice.ok(name, JSON.parse(text) as InputOf<typeof name> & Record<string, unknown>);
    const { thread_id, message_id, ask } = answer as Partial<OutputOf<'post_message'>> & {
      thread_id?: string;
      ask?: { ask_id: string };
    };
    if (name === 'create_thread' && thread_id !== undefined) ids = { ...ids, thread_id };
    if (name === 'post_message' && message_id !== undefined) ids = { ...ids, message_id };
    if (name === 'raise_ask' && ask !== undefined) ids = { ...ids, ask_id: ask.ask_id };
  }
  expect(Object.keys(ids).toSorted()).toEqual(['ask_id', 'message_id', 'thread_id']);
});

test('an answer, a request, a tool or a frame that differs from its description is found out', () => {
  const { exchange, frame } = createChecks(surface);
  const asked = JSON.stringify({ thread_id: 't', schema_version: 1, body: 'x' });
  const posted = { method: 'POST', url: '/v1/post_message', type: 'application/json', encoded: false, asked };
  const good = {
    message_id: 'm',
    seq: 1,
    thread_status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    called: [],
    not_called: [],
  };
  const answer = (status: number, value: unknown, more: object = {}): string[] =>
    exchange({ ...posted, status, answered: JSON.stringify(value), ...more });
  expect(answer(200, good)).toEqual([]);
  expect(answer(200, { ...good, later: 1 })).toEqual([]);
  expect(answer(200, { ...good, seq: 'one' })).toEqual([expect.stringContaining('/seq must be integer')]);
  expect(answer(200, good, { asked: '{}' })).toEqual([expect.stringContaining("'thread_id'")]);
  expect(answer(418, {})).toEqual([expect.stringContaining('418 is not described')]);
  const details = { hint: 'look again' };
  const refusal = { error: { code: 'NOT_FOUND', message: 'x', request_id: 'r', details } };
  const told = { error: { ...refusal.error, details: { ...details, colour: 'red' } } };
  expect(answer(404, told)).toEqual([expect.stringContaining('does not describe details.colour')]);
  expect(answer(404, { error: { ...refusal.error, details: {} } })).toEqual([
    expect.stringContaining("'hint'"),
  ]);
  expect(answer(404, refusal)).toEqual([]);
  expect(answer(409, refusal)).toHaveLength(1);
  expect(answer(200, {}, { url: '/v1/nowhere' })).toEqual([expect.stringContaining('is not described')]);
  const call = { id: 1, method: 'tools/call', params: { name: 'ack_read', arguments: { thread_id: 3 } } };
  const tool = { url: '/mcp', asked: JSON.stringify(call) };
  expect(answer(200, { id: 1, result: { structuredContent: { ok: 1 } } }, tool)).toHaveLength(2);
  const socket = {};
  const said = { id: 'x', type: 'event', payload: {} };
  expect(frame(socket, 'out', JSON.stringify(said))).toHaveLength(1);
  expect(frame(socket, 'in', JSON.stringify(said))).toEqual([]);
});

/** The bytes of an answer, not unpacked. */
async function raw(url: string, headers: Record<string, string>) {
  const { request } = await import('node:http');
  return new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>(
    (resolve, reject) => {
      request(url, { headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
      })
        .on('error', reject)
        .end();
    },
  );
}
