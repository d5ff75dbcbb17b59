import { request } from 'node:http';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { residentMb } from '../harness/memory.ts';
import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
const REQUEST_BYTES = 131_072;

function headersOf(token: string, more: Record<string, string> = {}): Record<string, string> {
  return { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...more };
}

test('[C-HUB-31] a message body holds 65,536 bytes and not one more', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  for (const body of ['x'.repeat(65_536), '😀'.repeat(16_384)]) {
    const { seq } = await alice.say(thread_id, body);
    const { messages } = await alice.ok('read_messages', { thread_id, since_seq: seq - 1 });
    expect(messages[0]?.body === body).toBe(true);
  }
  await scene.unchanged(async () => {
    for (const body of ['x'.repeat(65_537), `${'😀'.repeat(16_384)}x`, 'é'.repeat(32_769)]) {
      const error = await alice.refused(
        'post_message',
        { thread_id, schema_version: 1, body },
        'VALIDATION_ERROR',
      );
      expect(error.details['field']).toBe('body');
    }
  });
});

test('[C-HUB-31] metadata holds 32,768 bytes of JSON and not one more', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const sized = (bytes: number, char = 'x'): Record<string, unknown> => ({
    a: char.repeat((bytes - JSON.stringify({ a: '' }).length) / Buffer.byteLength(char)),
  });
  await alice.say(thread_id, 'x', { metadata: sized(32_768) });
  await alice.say(thread_id, 'x', { metadata: sized(32_768, 'é') });
  await scene.unchanged(async () => {
    for (const metadata of [sized(32_769), sized(32_770, 'é'), sized(65_000, '漢')])
      await alice.refused(
        'post_message',
        { thread_id, schema_version: 1, body: 'x', metadata },
        'VALIDATION_ERROR',
      );
  });
});

test('[C-HUB-31] a request holds 131,072 bytes and not one more', async () => {
  const alice = scene.as('alice');
  const padded = (bytes: number): string => '{"title":"padded"}'.padEnd(bytes, ' ');
  const url = `${scene.hub.url}/v1/create_thread`;
  const fits = await send(url, {
    method: 'POST',
    headers: headersOf(alice.token),
    body: padded(REQUEST_BYTES),
  });
  expect(fits.status).toBe(200);
  await scene.unchanged(async () => {
    for (const bytes of [REQUEST_BYTES + 1, 1_000_000, 8_000_000]) {
      for (let i = 0; i < 10; i++) {
        const over = await send(url, {
          method: 'POST',
          headers: headersOf(alice.token),
          body: padded(bytes),
        });
        const { error } = JSON.parse(over.text) as { error: { code: string; request_id: string } };
        expect([over.status, error.code]).toEqual([413, 'VALIDATION_ERROR']);
        scene.ledger.refusals.push(error);
      }
    }
  });
});

/** Sends megabytes in chunks until they are all sent or the hub hangs up; how much went out and what came back. */
function upload(
  path: string,
  headers: Record<string, string>,
  megabytes: number,
): Promise<{ sent: number; status: number }> {
  const chunk = Buffer.alloc(65_536, ' ');
  return new Promise((resolve) => {
    let sent = 0;
    let status = 0;
    const outgoing = request(`${scene.hub.url}${path}`, { method: 'POST', agent: false, headers });
    const pump = (): void => {
      while (sent < megabytes * 16) {
        sent++;
        if (!outgoing.write(chunk)) {
          outgoing.once('drain', pump);
          return;
        }
      }
      outgoing.end();
    };
    outgoing.once('response', (response) => {
      status = response.statusCode ?? 0;
      response.resume();
    });
    outgoing.on('error', () => {});
    outgoing.once('close', () => resolve({ sent: sent / 16, status }));
    pump();
  });
}

test.each([
  ['a good call', '/v1/create_thread', {}, 413],
  ['a call without a token', '/v1/create_thread', { authorization: '' }, 401],
  ['a call of another type', '/v1/create_thread', { 'content-type': 'text/plain' }, 415],
  ['a call to nowhere', '/v1/nowhere', {}, 404],
] as const)(
  '[C-HUB-31] a 200 MB chunked upload to %s is cut off early',
  async (_what, path, change, expected) => {
    const alice = scene.as('alice');
    const headers = { ...headersOf(alice.token), ...change };
    await upload(path, headers, 4);
    const before = residentMb(scene.hub.pid);
    await scene.unchanged(async () => {
      const { sent, status } = await upload(path, headers, 200);
      expect(status).toBe(expected);
      // Some is on its way in the socket's buffers when the answer comes.
      expect(sent).toBeLessThan(40);
    });
    expect(residentMb(scene.hub.pid) - before).toBeLessThan(20);
  },
);

test('[C-HUB-32] compressed bodies and other content types are refused unread', async () => {
  const alice = scene.as('alice');
  const url = `${scene.hub.url}/v1/create_thread`;
  // A gigabyte: gzip allows many parts in a row.
  const part = gzipSync(Buffer.alloc(64_000_000, ' '), { level: 9 });
  const bomb = Buffer.concat(Array.from({ length: 16 }, () => part));
  const before = residentMb(scene.hub.pid);
  await scene.unchanged(async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'gzip, gzip', 'x-unknown']) {
      const headers = headersOf(alice.token, { 'content-encoding': encoding });
      const { status, text } = await send(url, { method: 'POST', headers, body: bomb });
      expect([status, (JSON.parse(text) as { error: { code: string } }).error.code]).toEqual([
        415,
        'VALIDATION_ERROR',
      ]);
    }
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-16',
      'application/json; charset=latin1',
      'application/jsonp',
      'text/json',
      'application/json, text/plain',
      '',
    ]) {
      const headers = headersOf(alice.token, { 'content-type': type });
      const { status, text } = await send(url, { method: 'POST', headers, body: '{"title":"x"}' });
      const { error } = JSON.parse(text) as { error: { code: string; request_id: string } };
      expect([type, status, error.code]).toEqual([type, 415, 'VALIDATION_ERROR']);
      scene.ledger.refusals.push(error);
    }
    const bare = await send(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.token}` },
      body: '{"title":"x"}',
    });
    expect(bare.status).toBe(415);
  });
  expect(residentMb(scene.hub.pid) - before).toBeLessThan(20);
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
  ]) {
    const headers = headersOf(alice.token, { 'content-type': type });
    expect((await send(url, { method: 'POST', headers, body: '{"title":"x"}' })).status).toBe(200);
  }
});
