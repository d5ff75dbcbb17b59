import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { CONTRACTS } from '@parley/protocol';
import { afterEach, expect, test } from 'vitest';

import { createClient } from './client.ts';
import { isClientError } from './client-error.ts';

interface Heard {
  path: string;
  token: string;
  body: Record<string, unknown>;
}
type Answer = (response: ServerResponse, heard: Heard) => void;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A wire that behaves badly in a set order; the last answer holds for all that follow. */
async function wire(...answers: Answer[]): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // The first contact is none of the calls.
      if (request.url === '/healthz') return void response.end('{}');
      const text = Buffer.concat(chunks).toString();
      const one: Heard = {
        path: request.url ?? '',
        token: request.headers.authorization ?? '',
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      heard.push(one);
      return (answers[heard.length - 1] ?? answers.at(-1))?.(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
const hangUp: Answer = (response) => response.destroy();
const never: Answer = () => {};
const refusal = (code: string, details?: Record<string, unknown>) => ({
  error: { code, message: 'no', request_id: 'req_1', ...(details === undefined ? {} : { details }) },
});
const posted = {
  message_id: 'msg_1',
  seq: 1,
  thread_status: 'active',
  created_at: '2026-01-01T00:00:00.000Z',
};
const message = { thread_id: 'th_1', schema_version: 1 as const, body: 'hello' };

async function failure(running: Promise<unknown>) {
  const error: unknown = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isClientError(error)) throw new Error(`expected a ClientError, got ${String(error)}`);
  return error;
}

test('every operation of the table is a method', () => {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 't' });
  expect(Object.keys(client).toSorted()).toEqual(
    [...Object.keys(CONTRACTS), 'follow', 'followAll', 'uploadArtifact'].toSorted(),
  );
});

test('an answer that never came, a cut one and a 503 are repeated with the same key', async () => {
  const { url, heard } = await wire(
    never,
    hangUp,
    answer(503, refusal('UNAVAILABLE')),
    answer(502, '<html>'),
    answer(200, posted),
  );
  const client = createClient({ url, token: 't', timeoutMs: 300 });
  expect(await client.post_message(message)).toEqual(posted);
  expect(heard).toHaveLength(5);
  const keys = new Set(heard.map(({ body }) => body['idempotency_key']));
  expect(keys.size).toBe(1);
  expect([...keys][0]).toMatch(/^auto_[0-9a-f]{32}$/);
});

test('each write has a key of its own, a given key is kept, a read has none', async () => {
  const { url, heard } = await wire(answer(200, {}));
  const client = createClient({ url, token: 't' });
  await client.post_message(message);
  await client.post_message(message);
  await client.post_message({ ...message, idempotency_key: 'mine' });
  await client.list_threads();
  const keys = heard.map(({ body }) => body['idempotency_key']);
  expect(keys[0]).not.toBe(keys[1]);
  expect(keys.slice(2)).toEqual(['mine', undefined]);
});

test('a refusal is an error with code, details and request id, and is not repeated', async () => {
  const { url, heard } = await wire(
    answer(409, refusal('IDEMPOTENCY_CONFLICT', { field: 'idempotency_key' })),
  );
  const error = await failure(createClient({ url, token: 't' }).post_message(message));
  expect(error).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
    details: { field: 'idempotency_key' },
    request_id: 'req_1',
    status: 409,
  });
  expect(heard).toHaveLength(1);
});

test('it waits as long as the hub asks before the next try', async () => {
  let refusedAt = 0;
  const { url, heard } = await wire(
    (response, one) => {
      refusedAt = performance.now();
      answer(429, refusal('RATE_LIMITED', { retry_after_ms: 400 }))(response, one);
    },
    answer(200, posted),
  );
  await createClient({ url, token: 't' }).post_message(message);
  expect(heard).toHaveLength(2);
  expect(performance.now() - refusedAt).toBeGreaterThanOrEqual(399);
});

test('it gives up at once when the hub asks for more time than there is patience', async () => {
  const { url, heard } = await wire(answer(429, refusal('RATE_LIMITED'), { 'retry-after': '3600' }));
  const error = await failure(createClient({ url, token: 't', patienceMs: 2_000 }).post_message(message));
  expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 3_600_000 });
  expect(heard).toHaveLength(1);
});

test('without any answer it ends after its patience and says that the outcome is unknown', async () => {
  const { url } = await wire(hangUp);
  const error = await failure(createClient({ url, token: 't', patienceMs: 500 }).post_message(message));
  expect(error).toMatchObject({ code: 'UNAVAILABLE', status: undefined, details: { outcome: 'unknown' } });
});

test('a refused token is replaced by a fresh one where there is one', async () => {
  const { url, heard } = await wire(answer(401, refusal('UNAUTHORIZED')), answer(200, posted));
  const tokens = ['old', 'new'];
  await createClient({ url, token: async () => tokens.shift() ?? 'new' }).post_message(message);
  expect(heard.map(({ token }) => token)).toEqual(['Bearer old', 'Bearer new']);
});

test('a fixed token that is refused is an error at once', async () => {
  const { url, heard } = await wire(answer(401, refusal('UNAUTHORIZED')));
  expect(await failure(createClient({ url, token: 't' }).post_message(message))).toMatchObject({
    status: 401,
  });
  expect(heard).toHaveLength(1);
});

test('a redirect is not followed: the token stays here', async () => {
  const elsewhere = await wire(answer(200, posted));
  const { url } = await wire(answer(307, {}, { location: `${elsewhere.url}/v1/post_message` }));
  await failure(createClient({ url, token: 't', patienceMs: 50 }).post_message(message));
  expect(elsewhere.heard).toEqual([]);
});

test('the caller can give a call up', async () => {
  const { url } = await wire(never);
  const giveUp = new AbortController();
  const running = createClient({ url, token: 't' }).post_message(message, { signal: giveUp.signal });
  setTimeout(() => giveUp.abort(new Error('enough')), 50);
  await expect(running).rejects.toThrow('enough');
});

const frame = (seq: number): string => `id: ${seq}\nevent: message\ndata: {"seq":${seq}}\n\n`;
const stream =
  (...seqs: number[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': stream\n\n' + seqs.map(frame).join(''));
    setTimeout(() => response.destroy(), 20);
  };

test('follow goes on over broken connections without gap or repeat', async () => {
  const { url, heard } = await wire(
    stream(3, 4),
    answer(503, refusal('UNAVAILABLE')),
    stream(4, 5, 6),
    hangUp,
    stream(7),
  );
  const seqs: number[] = [];
  for await (const { seq } of createClient({ url, token: 't' }).follow('th_1', 2)) {
    seqs.push(seq);
    if (seq === 7) break;
  }
  expect(seqs).toEqual([3, 4, 5, 6, 7]);
  expect(heard.map(({ path }) => path.split('=')[1])).toEqual(['2', '4', '4', '6', '6']);
});

test('follow ends when it is told to, and reports a hole instead of skipping it', async () => {
  const { url } = await wire(stream(1, 3));
  const client = createClient({ url, token: 't' });
  const seqs: number[] = [];
  await expect(
    (async () => {
      for await (const { seq } of client.follow('th_1')) seqs.push(seq);
    })(),
  ).rejects.toThrow('jumped from seq 1 to 3');
  expect(seqs).toEqual([1]);

  const quiet = await wire((response) => response.writeHead(200).write(': stream\n\n'));
  const end = new AbortController();
  setTimeout(() => end.abort(), 50);
  const messages = createClient({ ...quiet, token: 't' }).follow('th_1', 0, { signal: end.signal });
  expect(await messages.next()).toEqual({ done: true, value: undefined });
});

test('follow does not repeat a refusal', async () => {
  const { url, heard } = await wire(answer(403, refusal('FORBIDDEN')));
  const messages = createClient({ url, token: 't' }).follow('th_1');
  expect(await failure(messages.next())).toMatchObject({ code: 'FORBIDDEN' });
  expect(heard).toHaveLength(1);
});

test('follow ends when it is told to, also after the garbage was collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { url } = await wire((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('id: 7\nevent: hello\ndata: {"pos":7}\n\n');
  });
  const end = new AbortController();
  let hear: (position: number) => void = () => {};
  const hello = new Promise<number>((resolve) => (hear = resolve));
  const events = createClient({ url, token: 't' }).followAll(undefined, {
    signal: end.signal,
    onHello: hear,
  });
  const first = events.next();
  expect(await hello).toBe(7);
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
  }
  end.abort();
  expect(await first).toEqual({ done: true, value: undefined });
});
