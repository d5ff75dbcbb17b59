import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { LIVE_CODE, LIVE_CODES } from '@parley/protocol';
import { expect, test } from 'vitest';

import { storedMessages } from '../harness/oracle.ts';
import { isOfOwnTime, linesOf } from '../harness/stored-record.ts';
import { useHub } from '../harness/use-hub.ts';
import { dial, envelope, type Heard, type LiveClient, registration } from './live-client.ts';

const scene = useHub({ settings: { 'live.messages_per_minute': 100_000, 'live.messages_burst': 10_000 } });

const connectAs = (agent: string, role = 'worker', session?: string): Promise<LiveClient> =>
  dial(scene.hub.url, agent, scene.as(agent, { role, ...(session === undefined ? {} : { session }) }).token);

/** Sends raw data that must be answered by an error, the connection staying open. */
async function faulty(client: LiveClient, data: string | Buffer): Promise<Heard['payload']> {
  const from = client.heard.length;
  client.ws.send(data);
  const answer = await client.until((message) => client.heard.indexOf(message) >= from);
  expect(answer).toMatchObject({ type: 'error', source: 'parley', target: client.agent });
  expect(client.end()).toBeUndefined();
  return answer.payload;
}

test('[LIVE-1] [LIVE-8] [C-WS-06] what is no message is answered by an error, and the connection stays', async () => {
  const alice = await connectAs('alice');
  const good = envelope('alice', 'event', undefined, { eventType: 'info', agentId: 'alice', data: {} });
  const without = (field: string): string => JSON.stringify({ ...good, [field]: undefined });
  const cases: [string | Buffer, string][] = [
    ['not json', 'message'],
    ['', 'message'],
    ['[]', 'message'],
    ['42', 'message'],
    ['null', 'message'],
    [Buffer.from(JSON.stringify(good)), 'message'],
    ['{"id":"1","id":"2"}', 'message'],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'message'],
    [without('id'), 'id'],
    [without('type'), 'type'],
    [without('source'), 'source'],
    [without('timestamp'), 'timestamp'],
    [without('payload'), 'payload'],
    [JSON.stringify({ ...good, type: 'shout' }), 'type'],
    [JSON.stringify({ ...good, target: 5 }), 'target'],
    [JSON.stringify({ ...good, payload: [] }), 'payload'],
    [
      JSON.stringify({ ...good, payload: { eventType: 'party', agentId: 'alice', data: {} } }),
      'payload.eventType',
    ],
  ];
  for (const [data, field] of cases) {
    const payload = await faulty(alice, data);
    expect(payload, String(data)).toMatchObject({
      code: 'INVALID_COMMAND',
      recoverable: true,
      details: { field },
    });
    expect(payload.message).toMatch(/\S/);
  }
  const named = await faulty(alice, JSON.stringify({ ...good, type: 'shout' }));
  expect(named.details.requestId).toBe(good['id']);
  await alice.hub('list_threads');
});

test('[C-WS-07] [LIVE-1] an id must be a UUID v4', async () => {
  const alice = await connectAs('alice');
  const payload = { eventType: 'info', agentId: 'alice', data: {} };
  for (const id of ['x', '', 7, '550e8400-e29b-11d4-a716-446655440000', '550e8400e29b41d4a716446655440000'])
    expect(
      await faulty(alice, JSON.stringify(envelope('alice', 'event', undefined, payload, { id }))),
    ).toMatchObject({ code: 'INVALID_COMMAND', details: { field: 'id' } });
});

test('[C-WS-08] [LIVE-1] a timestamp must be one, and of this time; what is stored is the hub’s own time', async () => {
  const alice = await connectAs('alice');
  const payload = { eventType: 'info', agentId: 'alice', data: {} };
  for (const timestamp of [
    'yesterday',
    '9999-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
    '1999-01-01T00:00:00Z',
    5,
  ])
    expect(
      await faulty(alice, JSON.stringify(envelope('alice', 'event', undefined, payload, { timestamp }))),
    ).toMatchObject({ code: 'INVALID_COMMAND', details: { field: 'timestamp' } });

  const dashboard = await connectAs('dash', 'operator');
  await dashboard.hub('follow_workspace');
  const before = Date.now();
  alice.say('event', undefined, { ...payload, data: { n: 1 } }, { timestamp: '2026-02-11T10:30:00Z' });
  const shown = await dashboard.until(({ type }) => type === 'event');
  expect(Date.parse(shown.timestamp)).toBeGreaterThanOrEqual(before - 1);
  const stored = (await storedMessages(scene.hub.data)).find(({ metadata }) =>
    JSON.stringify(metadata).includes('"n":1'),
  );
  expect(Date.parse(stored?.created_at ?? '')).toBeGreaterThanOrEqual(before - 1);
});

test('[C-WS-09] [LIVE-9] nobody speaks as another: refused and not passed on', async () => {
  const alice = await connectAs('alice');
  const dashboard = await connectAs('dash', 'operator');
  await dashboard.hub('follow_workspace');
  const forged = await alice.ask(
    'event',
    undefined,
    { eventType: 'info', agentId: 'bob', data: {} },
    { source: 'bob' },
  );
  expect(forged).toMatchObject({ type: 'error', payload: { code: 'UNAUTHORIZED' } });
  const borrowed = await alice.ask('event', undefined, { eventType: 'info', agentId: 'bob', data: {} });
  expect(borrowed.payload).toMatchObject({ code: 'UNAUTHORIZED' });
  const registered = await alice.ask('command', 'parley', {
    command: 'register_agent',
    parameters: { ...registration, agentId: 'bob' },
  });
  expect(registered).toMatchObject({ type: 'error', payload: { code: 'UNAUTHORIZED' } });
  await dashboard.hub('list_threads');
  expect(dashboard.heard.filter(({ source }) => source !== 'parley')).toEqual([]);
});

test('[LIVE-4] [C-WS-14] a status is checked, stored and shown live; a bad one changes nothing', async () => {
  const alice = await connectAs('alice');
  const dashboard = await connectAs('dash', 'observer');
  await dashboard.hub('follow_workspace');
  await alice.hub('register_agent', registration);
  const good = {
    agentId: 'alice',
    status: 'busy',
    lastSeen: '2026-02-11T10:30:01Z',
    capabilities: ['research'],
    metadata: { version: '1.0.0', uptime: 86_400, currentTask: 'digging', healthScore: 95 },
  };
  alice.say('status_update', 'dash', good);
  const shown = await dashboard.until(({ payload }) => payload.status === 'busy');
  expect(shown).toMatchObject({
    type: 'status_update',
    source: 'alice',
    payload: { metadata: good.metadata },
  });
  expect(Date.now() - Date.parse(shown.payload.lastSeen)).toBeLessThan(60_000);

  for (const [status, healthScore] of [
    ['error', 0],
    ['online', 100],
    ['busy', 95],
  ] as const) {
    alice.say('status_update', 'dash', { ...good, status, metadata: { ...good.metadata, healthScore } });
    const told = ({ payload }: Heard): boolean =>
      payload.status === status && payload.metadata?.healthScore === healthScore;
    await dashboard.until(told);
  }

  const bad: [Record<string, unknown>, string][] = [
    [{ agentId: 'bob' }, 'UNAUTHORIZED'],
    [{ status: 'ok' }, 'INVALID_COMMAND'],
    [{ metadata: { healthScore: 101 } }, 'INVALID_COMMAND'],
    [{ metadata: { healthScore: -1 } }, 'INVALID_COMMAND'],
    [{ metadata: { healthScore: Number.NaN } }, 'INVALID_COMMAND'],
    [{ capabilities: [1] }, 'INVALID_COMMAND'],
    [{ capabilities: 'all' }, 'INVALID_COMMAND'],
  ];
  for (const [change, code] of bad)
    expect((await alice.ask('status_update', undefined, { ...good, ...change })).payload).toMatchObject({
      code,
    });
  await alice.close();
  const last = await dashboard.ask('status_request', 'alice');
  expect(last).toMatchObject({
    type: 'status_update',
    payload: { agentId: 'alice', status: 'offline', capabilities: ['research'], metadata: good.metadata },
  });
});

test('[LIVE-9] [C-WS-15] [C-LOCAL-09] an agent registers and registers anew; its endpoint is checked and never dialled', async () => {
  let dialled = 0;
  const canary = createServer(() => dialled++);
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  const { port } = canary.address() as AddressInfo;
  const alice = await connectAs('alice');
  const register = (endpoint: string): Promise<Heard> =>
    alice.ask('command', 'parley', {
      command: 'register_agent',
      parameters: { ...registration, agentId: 'alice', endpoint },
    });
  for (const endpoint of [
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://user@host/',
    'ws://u:p@host/',
    'x',
  ])
    expect((await register(endpoint)).payload, endpoint).toMatchObject({ code: 'INVALID_COMMAND' });
  for (const endpoint of [
    'http://169.254.169.254/',
    `http://127.0.0.1:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://2130706433:${port}/`,
    `http://0x7f.1:${port}/`,
    `ws://localhost:${port}/`,
    `http://localhost.:${port}/`,
    `http://0177.0.0.1:${port}/`,
    `http://[2002:7f00:1::]:${port}/`,
    `http://[64:ff9b::7f00:1]:${port}/`,
    `http://[fec0::1]:${port}/`,
  ])
    expect((await register(endpoint)).payload, endpoint).toMatchObject({ success: true });
  const anew = { agentId: 'alice', name: 'Alice anew', type: 'custom', capabilities: ['digging'] };
  const endpoint = `http://127.0.0.1:${port}/anew`;
  await alice.hub('register_agent', { ...registration, ...anew, endpoint });
  const wrong = { command: 'register_agent', parameters: { ...registration, ...anew, type: 'x' } };
  expect((await alice.ask('command', 'parley', wrong)).payload).toMatchObject({ code: 'INVALID_COMMAND' });
  const dashboard = await connectAs('dash', 'operator');
  const { agentId: agent_id, ...stored } = anew;
  const known = { agent_id, ...stored, endpoint };
  expect(await dashboard.hub('get_agent', { of_agent: 'alice' })).toMatchObject(known);
  expect(await dashboard.hub('list_agents')).toMatchObject({ agents: expect.any(Array) });
  expect(dialled).toBe(0);
  canary.close();
});

test('[LIVE-6] [LIVE-8] every code of the hub has a word on /ws', () => {
  expect(new Set(Object.values(LIVE_CODE)).size).toBeGreaterThan(4);
  for (const code of Object.values(LIVE_CODE)) expect(LIVE_CODES).toContain(code);
});

test('[C-HUB-20] [C-BRIDGE-03] what an operation refuses elsewhere it refuses here too, and nothing is stored', async () => {
  const alice = await connectAs('alice', 'operator');
  const { thread_id } = await alice.hub<{ thread_id: string }>('create_thread', { title: 'x' });
  const { thread_id: other } = await alice.hub<{ thread_id: string }>('create_thread', { title: 'y' });
  const elsewhere = await alice.hub<{ message_id: string }>('post_message', {
    thread_id: other,
    schema_version: 1,
    body: 'elsewhere',
  });
  const codeOf = async (command: string, parameters: object): Promise<unknown> => {
    const asked = { command, parameters: { thread_id, ...parameters } };
    const { code, details } = (await alice.ask('command', 'parley', asked)).payload;
    return [code, details.code];
  };
  await scene.unchanged(async () => {
    for (const in_reply_to of ['msg_unknown', elsewhere.message_id]) {
      const post = { schema_version: 1, body: 'x', in_reply_to };
      expect(await codeOf('post_message', post)).toEqual(['INVALID_COMMAND', 'NOT_FOUND']);
    }
    for (const targets of [['ghost'], ['alice'], [], ['all'], 'p']) {
      const control = { mute: { targets } };
      expect(await codeOf('control_thread', { control })).toEqual(['INVALID_COMMAND', 'VALIDATION_ERROR']);
    }
  });
});

test('[C-HUB-27] bytes that are not UTF-8 end the connection, as the protocol of sockets asks, and nothing is stored', async () => {
  for (const bytes of [
    [0xc3, 0x28],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  ]) {
    const alice = await connectAs('alice');
    const event = { eventType: 'info', agentId: 'alice', data: { text: String.fromCharCode(...bytes) } };
    const text = JSON.stringify(envelope('alice', 'event', undefined, event));
    const before = await said();
    alice.ws.send(Buffer.from(text, 'latin1'), { binary: false });
    expect((await alice.closed).code).toBe(1007);
    expect(await said()).toEqual(before);
  }
});

/** What is on record but for what the coming and going of a connection writes of its agent. */
async function said(): Promise<string[]> {
  const lines = await linesOf(scene.hub.data);
  return lines.filter((line) => !isOfOwnTime(line) && !line.startsWith('{"type":"agent"'));
}
