import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { mainThreadMs, percentile, timed } from '../harness/latency.ts';
import { residentMb } from '../harness/memory.ts';
import { toldToAll } from '../harness/told-to-all.ts';
import { useHub } from '../harness/use-hub.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { answers, dial, type LiveClient } from './live-client.ts';

const BUFFER = 262_144;

const SETTINGS = {
  'live.ping_ms': 1_000,
  'live.client_pings': 200,
  'live.send_buffer_bytes': BUFFER,
  'quota.messages_per_minute': 10_000_000,
  'quota.messages_burst': 1_000_000,
};

const scene = useHub({ settings: SETTINGS });

const connectAs = (agent: string, who: Record<string, string> = {}): Promise<LiveClient> =>
  dial(scene.hub.url, agent, scene.as(agent, who).token);

/** Sends requests one by one; how each was answered. */
async function ask(client: LiveClient, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () =>
    client.say('command', 'parley', { command: 'list_threads', parameters: { limit: 1 } }),
  );
  const all = await Promise.all(ids.map((id) => client.until((message) => answers(message, id))));
  return all.map(({ type, payload }) => (type === 'error' ? payload.details.reason : 'served'));
}

test('[LIVE-11] [C-WS-17] 60 requests are served, the next is told when to come back; connections of one agent share the budget', async () => {
  const sessions = await Promise.all(['s1', 's2', 's3'].map((session) => connectAs('alice', { session })));
  const [first, second, third] = sessions as [LiveClient, LiveClient, LiveClient];
  expect(await ask(first, 30)).toEqual(Array(30).fill('served'));
  expect(await ask(second, 30)).toEqual(Array(30).fill('served'));
  await toldToAll(scene.hub);
  const refused = await third.ask('command', 'parley', { command: 'list_threads' });
  expect(refused).toMatchObject({
    type: 'error',
    payload: { code: 'RESOURCE_EXHAUSTED', recoverable: true, details: { reason: 'rate_limited' } },
  });
  const { retry_after_ms } = refused.payload.details as { retry_after_ms: number };
  expect(retry_after_ms).toBeGreaterThan(0);
  expect(retry_after_ms).toBeLessThanOrEqual(60_000);

  const other = await connectAs('bob');
  expect(await ask(other, 60)).toEqual(Array(60).fill('served'));
  for (const client of sessions) expect(client.end()).toBeUndefined();
});

test('[LIVE-11] who goes on far beyond the limit is cut off', async () => {
  const flooder = await connectAs('flooder');
  for (let i = 0; i < 2_000 && flooder.ws.readyState === WebSocket.OPEN; i++) flooder.ws.send('x');
  expect((await flooder.closed).code).toBe(1008);
});

/** A client that speaks frames by hand. */
async function rawSocket(agent: string, extra = ''): Promise<Socket> {
  const { port, hostname, host } = new URL(scene.hub.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `GET /ws HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n` +
      `sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${scene.as(agent).token}\r\n${extra}\r\n`,
  );
  const head = await new Promise<string>((resolve) =>
    socket.once('data', (chunk) => resolve(chunk.toString())),
  );
  expect(head).toContain('101 Switching Protocols');
  if (extra !== '') expect(head.toLowerCase()).not.toContain('permessage-deflate');
  return socket;
}

const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())));

test('[C-WS-18] [R10] a frame that is too large, or in too many parts, ends the connection and costs no memory', async () => {
  const before = residentMb(scene.hub.pid);
  const large = await connectAs('large');
  large.ws.send('x'.repeat(10_000_000));
  expect((await large.closed).code).toBe(1009);

  const socket = await rawSocket('tiny');
  socket.resume();
  const part = Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x78]);
  const parts = Buffer.alloc(part.length * 10_000, part);
  socket.write(Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x78]));
  for (let i = 0; i < 100 && !socket.destroyed; i++)
    if (!socket.write(parts))
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), ended(socket)]);
  await ended(socket);
  expect(residentMb(scene.hub.pid) - before).toBeLessThan(50);
});

test('[C-WS-19] compression is never agreed to, so that nothing can be blown up', async () => {
  const before = residentMb(scene.hub.pid);
  const socket = await rawSocket('bomber', 'sec-websocket-extensions: permessage-deflate\r\n');
  // A compressed frame without an agreement is a breach of the protocol.
  socket.resume();
  socket.write(Buffer.concat([Buffer.from([0xc1, 0x85, 0, 0, 0, 0]), randomBytes(5)]));
  await ended(socket);
  expect(residentMb(scene.hub.pid) - before).toBeLessThan(50);
});

test('[C-WS-22] a flood of pings is cut off, and others are served meanwhile', async () => {
  const alice = scene.as('alice');
  const flooder = await connectAs('pinger');
  const polite = await connectAs('polite');
  const started = mainThreadMs(scene.hub.pid);
  const flood = setInterval(() => {
    for (let i = 0; i < 100 && flooder.ws.readyState === WebSocket.OPEN; i++) flooder.ws.ping('x');
  }, 10);
  const delays: number[] = [];
  for (let i = 0; i < 50; i++) delays.push(await timed(() => alice.ok('list_threads', {})));
  clearInterval(flood);
  expect((await flooder.closed).code).toBe(1008);
  measured('C-WS-22', 'p99 of the others', `${percentile(delays, 0.99).toFixed(1)} ms`);
  expect(percentile(delays, 0.99)).toBeLessThan(sizeOf('C-WS-22').waitedMs);
  expect(mainThreadMs(scene.hub.pid) - started).toBeLessThan(5_000);
  for (let i = 0; i < 20; i++) polite.ws.ping();
  await new Promise((resolve) => polite.ws.once('pong', resolve));
  expect(polite.end()).toBeUndefined();
});

test('[C-WS-22] a client that never answers pings is ended', async () => {
  const { url } = scene.hub;
  const mute = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
    autoPong: false,
    headers: { authorization: `Bearer ${scene.as('mute').token}` },
  });
  const started = Date.now();
  const code = await new Promise<number>((resolve) => mute.once('close', resolve));
  expect(code).toBe(1006);
  expect(Date.now() - started).toBeLessThan(10_000);
});

describe('a reader that stops', () => {
  // Who reads nothing answers no ping either: it is not asked before the way to it is full, however slow the others are.
  const patient = useHub({ settings: { ...SETTINGS, 'live.ping_ms': 600_000 } });

  test('[LIVE-14] [C-WS-20] [BRIDGE-19] [R6] [R10] a reader that stops is left out, costs nobody anything, and catches up from the log', async () => {
    const { pid } = patient.hub;
    const alice = patient.as('alice');
    const thread_id = await alice.thread('slow', 'fast');
    const [slow, fast] = (await Promise.all(
      ['slow', 'fast'].map((name) => dial(patient.hub.url, name, patient.as(name).token)),
    )) as [LiveClient, LiveClient];
    for (const client of [slow, fast]) await client.hub('follow', { thread_id, since_seq: 0 });
    // More than all the buffers of the kernel on the way can hold.
    const { events: COUNT, bytes, grownMb } = sizeOf('C-WS-20');
    const body = 'x'.repeat(bytes);
    const post = async (thread: string, count: number): Promise<void> => {
      for (let i = 0; i < count; i += 100)
        await Promise.all(Array.from({ length: 100 }, () => alice.say(thread, body)));
    };
    // What a hub takes that has just begun to work is no growth of its buffers.
    await post(await alice.thread(), 1_000);
    const before = residentMb(pid);
    slow.ws.pause();
    await post(thread_id, COUNT);
    const seqs = (client: LiveClient): number[] =>
      client.heard.filter(({ type }) => type === 'event').map(({ payload }) => payload.data.seq as number);
    await expect.poll(() => seqs(fast).length, { timeout: 120_000 }).toBe(COUNT);
    measured('C-WS-20', 'the hub grew by', `${Math.round(residentMb(pid) - before)} MB`);
    expect(residentMb(pid) - before).toBeLessThan(grownMb);
    slow.ws.resume();
    await expect.poll(() => seqs(slow).length, { timeout: 120_000 }).toBe(COUNT);
    const all = Array.from({ length: COUNT }, (_, i) => i + 1);
    expect(seqs(fast)).toEqual(all);
    expect(seqs(slow)).toEqual(all);
    const gaps = slow.heard.filter(({ payload }) => payload.details?.reason === 'gap');
    expect(gaps.length).toBeGreaterThan(0);
    for (const { payload } of gaps)
      expect(payload).toMatchObject({ code: 'RESOURCE_EXHAUSTED', details: { thread_id } });
    expect(fast.heard.filter(({ type }) => type === 'error')).toEqual([]);
  }, 600_000);
});
