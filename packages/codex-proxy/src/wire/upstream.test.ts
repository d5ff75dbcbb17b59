import { PassThrough, Writable } from 'node:stream';

import { describe, expect, test, vi } from 'vitest';

import { proxyError } from '../errors.ts';
import { createFrameReader } from './frame-reader.ts';
import { createFrameWriter } from './frame-writer.ts';
import { createUpstream, type UpstreamCall } from './upstream.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function connect(answer: (call: UpstreamCall) => Promise<unknown> = async ({ params }) => params) {
  const output = new PassThrough({ highWaterMark: 1 << 30 });
  const heard: string[] = [];
  const reported: string[] = [];
  const upstream = createUpstream({
    writer: createFrameWriter(output, 1 << 20),
    maxMessageBytes: 10_000,
    answer,
    hear: (method) => void heard.push(method),
    log: (level, message) => void (level === 'debug' || reported.push(message)),
  });
  return {
    upstream,
    heard,
    reported,
    send: (message: unknown) => upstream.receive(Buffer.from(`${JSON.stringify(message)}\n`)),
    raw: (bytes: string | Uint8Array) => upstream.receive(Buffer.from(bytes)),
    /** Everything said so far, each with its framing. */
    said: async () => {
      await turn();
      const bytes = output.read() as Buffer | null;
      return createFrameReader(1 << 20)
        .push(bytes ?? Buffer.alloc(0))
        .map((frame) => ({
          framing: frame.framing,
          message: JSON.parse(Buffer.from('bytes' in frame ? frame.bytes : []).toString()) as {
            id?: unknown;
            error?: { code: number; data?: unknown };
            [field: string]: unknown;
          },
        }));
    },
  };
}

const call = (id: unknown, params: object = {}) => ({ jsonrpc: '2.0', id, method: 'm', params });

describe('[FR-1.2] [C-PROXY-01] answers come in the framing of their request', () => {
  test('mixed in one stream', async () => {
    const { raw, said } = connect();
    const body = JSON.stringify(call(1));
    raw(
      `${body}\nContent-Length: ${body.length}\r\n\r\n${body.replace('1', '2')}${body.replace('1', '3')}\n`,
    );
    const answers = await said();
    expect(answers.map(({ framing, message }) => [framing, message.id])).toEqual([
      ['line', 1],
      ['header', 2],
      ['line', 3],
    ]);
  });
});

describe("what is no request is refused in the protocol's own words", () => {
  test.each([
    ['no JSON', '{"jsonrpc":', -32_700, null],
    ['two keys alike', '{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}', -32_700, null],
    ['half a character', '{"jsonrpc":"2.0","id":7,"method":"m","params":{"prompt":"a\\ud83d"}}', -32_700, 7],
    ['a NUL', '{"jsonrpc":"2.0","id":"x","method":"m","params":{"id":1,"prompt":"\\u0000"}}', -32_700, 'x'],
    [
      'too deep',
      `{"jsonrpc":"2.0","id":7,"method":"m","params":${'['.repeat(200)}${']'.repeat(200)}}`,
      -32_700,
      7,
    ],
    ['half a character in an answer', '{"jsonrpc":"2.0","id":7,"result":"a\\ud83d"}', -32_700, null],
    [
      'half a character, and two ids',
      '{"jsonrpc":"2.0","id":7,"id":8,"method":"m","x":"\\ud83d"}',
      -32_700,
      null,
    ],
    ['a list', '[]', -32_600, null],
    ['another version', '{"jsonrpc":"1.0","id":7,"method":"m"}', -32_600, 7],
    ['no method', '{"jsonrpc":"2.0","id":7}', -32_600, 7],
    ['an id of no kind', '{"jsonrpc":"2.0","id":{},"method":"m"}', -32_600, null],
    ['params that are a list', '{"jsonrpc":"2.0","id":7,"method":"m","params":[]}', -32_602, 7],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32_700, null],
    ['too long', `{"x":"${'x'.repeat(20_000)}"}`, -32_700, null],
  ])('[NFR-6] [C-PROXY-02] %s', async (_what, text, code, id) => {
    const { raw, said } = connect();
    raw(Buffer.concat([Buffer.from(text), Buffer.from('\n')]));
    const [answer, ...more] = await said();
    expect(answer?.message).toMatchObject({ id, error: { code, data: { error_source: 'proxy' } } });
    expect(more).toEqual([]);
  });
});

describe('ids come back as they were', () => {
  test.each(['text', '', 0, -3, 1.5, 1e308, null])('[C-PROXY-43] %j', async (id) => {
    const { send, said } = connect();
    send(call(id, { a: 1 }));
    expect((await said()).map(({ message }) => message)).toEqual([{ jsonrpc: '2.0', id, result: { a: 1 } }]);
  });

  test('[C-PROXY-43] an id in use is refused, and free again after its answer', async () => {
    let finish = (): void => {};
    const { send, said } = connect(() => new Promise((resolve) => (finish = () => resolve({}))));
    send(call(1));
    send(call(1));
    expect((await said()).map(({ message }) => message.error?.code)).toEqual([-32_600]);
    finish();
    await said();
    send(call(1));
    finish();
    expect((await said()).map(({ message }) => message.error)).toEqual([undefined]);
  });
});

test('[NFR-6] an error of the proxy carries its name and source; any other says nothing of the inside', async () => {
  const { send, said, reported } = connect(async ({ params }) => {
    if (params['own'] === true) throw proxyError('SESSION_NOT_FOUND', 'no such session', { agent_id: 'x' });
    throw new Error('/secret/path');
  });
  send(call(1, { own: true }));
  send(call(2));
  const [own, other] = (await said()).map(({ message }) => message.error);
  expect(own).toEqual({
    code: -32_002,
    message: 'no such session',
    data: { error_source: 'proxy', error_name: 'SESSION_NOT_FOUND', agent_id: 'x' },
  });
  expect(other).toEqual({
    code: -32_603,
    message: 'Internal error',
    data: { error_source: 'proxy', error_name: 'INTERNAL_ERROR' },
  });
  expect(reported).toEqual(['a request failed']);
});

test('a cancelled request tells its handler, and is answered once', async () => {
  const { send, said } = connect(
    ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ cancelled: signal.reason }))),
  );
  send(call(0));
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0, reason: 'enough' } });
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } });
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } });
  expect((await said()).map(({ message }) => message['result'])).toEqual([{ cancelled: 'enough' }]);
});

describe('[C-PROXY-25] questions to the client', () => {
  test('[FR-18.2] each answer finds its question; strangers and repeats are ignored', async () => {
    const { upstream, send, said, reported } = connect();
    const never = new AbortController().signal;
    const first = upstream.ask('elicitation/create', { n: 1 }, never);
    const second = upstream.ask('elicitation/create', { n: 2 }, never);
    const ids = (await said()).map(({ message }) => message.id);
    send({ jsonrpc: '2.0', id: 'never-asked', result: {} });
    send({ jsonrpc: '2.0', id: ids[1], result: { second: true } });
    send({ jsonrpc: '2.0', id: ids[1], result: { again: true } });
    send({ jsonrpc: '2.0', id: ids[0], error: { code: -1, message: 'no' } });
    expect(await first).toEqual({ error: { code: -1, message: 'no' } });
    expect(await second).toEqual({ result: { second: true } });
    expect(reported).toHaveLength(2);
  });

  test('a withdrawn question is told to the client, and its late answer ignored', async () => {
    const { upstream, send, said } = connect();
    const controller = new AbortController();
    const asked = upstream.ask('elicitation/create', {}, controller.signal);
    const [question] = await said();
    controller.abort(new Error('too late'));
    await expect(asked).rejects.toThrow('too late');
    // What may be lost waits a moment for company.
    const [reported] = await vi.waitUntil(async () => {
      const heard = await said();
      return heard.length > 0 && heard;
    });
    expect(reported?.message).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: question?.message.id },
    });
    send({ jsonrpc: '2.0', id: question?.message.id, result: {} });
    expect(await said()).toEqual([]);
  });
});

describe('[FR-19.3] [FR-19.4] a slow client', () => {
  test('loses events, never answers, and holds nobody up', async () => {
    const written: string[] = [];
    let release = (): void => {};
    const output = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        written.push(text);
        release = done;
      },
    });
    const writer = createFrameWriter(output, 1_000);
    const upstream = createUpstream({
      writer,
      maxMessageBytes: 1_000,
      answer: async () => ({}),
      hear: () => {},
      log: () => {},
    });
    const taken = Array.from({ length: 1_000 }, (_, n) => upstream.notify('codex/event', { n }));
    expect(taken.filter(Boolean).length).toBeGreaterThan(1);
    expect(taken.at(-1)).toBe(false);
    upstream.receive(Buffer.from(`${JSON.stringify(call(5))}\n`));
    await turn();
    expect(writer.backlog()).toBeLessThan(2_000);
    for (let i = 0; i < 100; i++) {
      const done = release;
      release = () => {};
      done();
      await turn();
    }
    expect(written.join('').endsWith('\n{"jsonrpc":"2.0","id":5,"result":{}}\n')).toBe(true);
    expect(upstream.notify('codex/event', {})).toBe(true);
  });

  test('when it is gone, everything is dropped without harm', async () => {
    const output = new PassThrough();
    const writer = createFrameWriter(output, 1_000);
    output.destroy();
    await turn();
    writer.send({ id: 1 }, 'line');
    expect(writer.offer({ method: 'x' }, 'line')).toBe(false);
  });
});
