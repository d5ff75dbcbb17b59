import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { answers, dial, envelope, type LiveClient, registration } from './live-client.ts';

const scene = useHub({
  settings: { 'live.messages_per_minute': 100_000, 'live.messages_burst': 10_000 },
});

interface Who {
  role?: string;
  workspace?: string;
  readOnly?: boolean;
}

function tokenOf(agent: string, { readOnly = false, ...who }: Who): string {
  return scene.signer.token({ agent, ...who }, readOnly ? { read_only: true } : {});
}
const connect = (agent: string, who: Who = {}): Promise<LiveClient> =>
  dial(scene.hub.url, agent, tokenOf(agent, who));

async function connectAgent(agent: string, who: Who = {}): Promise<LiveClient> {
  const client = await connect(agent, who);
  await client.hub('register_agent', { ...registration, capabilities: [] });
  return client;
}

const sealed = { contentType: 'application/jose', jwe: 'eyJhbGciOiJkaXIifQ..aXY.c2VhbGVk.dGFn' };
const trouble = { code: 'INTERNAL_ERROR', message: 'stop everything', recoverable: false };

/** All that would reach others, by whoever says it. */
const words = (name: string): [Parameters<LiveClient['say']>[0], unknown][] => [
  ['error', trouble],
  ['error', sealed],
  ['event', { eventType: 'info', agentId: name, data: { text: 'hello' } }],
  ['event', sealed],
  ['status_update', { agentId: name, status: 'busy', capabilities: [] }],
  ['status_update', sealed],
  ['command_response', { requestId: randomUUID(), success: true, executionTime: 1 }],
  ['command_response', { ...sealed, requestId: randomUUID() }],
  ['command', { command: 'stop' }],
];

test('what a device says that may only look reaches nobody, over /ws and over HTTP', async () => {
  const who = { workspace: 'w-look' };
  const [agent, watcher] = [
    await connectAgent('agent', who),
    await connect('dash', { ...who, role: 'operator' }),
  ];
  await watcher.hub('follow_workspace');
  const from = [agent.heard.length, watcher.heard.length];
  const kim = { ...who, role: 'operator', readOnly: true };
  const device = await connect('kim', kim);
  for (const target of ['agent', undefined])
    for (const [type, payload] of words('kim')) {
      const refused = await device.ask(type, target, payload);
      expect([type, refused.type, refused.payload.code]).toEqual([type, 'error', 'UNAUTHORIZED']);
      const reply = await send(`${scene.hub.url}/v1/live/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenOf('kim', kim)}` },
        body: JSON.stringify(envelope('kim', type, target, payload)),
      });
      expect([type, reply.status]).toEqual([type, 403]);
    }
  // To look is to ask, too.
  agent.on(({ type, id }) => {
    if (type === 'status_request')
      agent.say('status_update', 'kim', {
        agentId: 'agent',
        status: 'busy',
        capabilities: [],
        requestId: id,
      });
  });
  expect((await device.ask('status_request', 'agent')).payload).toMatchObject({ status: 'busy' });
  await device.hub('list_agents');
  for (const client of [agent, watcher]) await client.hub('list_agents');
  const heard = (client: LiveClient, since = 0): unknown[] =>
    client.heard
      .slice(since)
      .filter(({ source, type }) => source === 'kim' && type !== 'status_request')
      .map(({ type, payload }) => [type, payload as unknown]);
  expect([heard(agent, from[0]), heard(watcher, from[1])]).toEqual([[], []]);
  // And nothing is asked of it: whoever has only such a device is not there for commands.
  expect((await watcher.ask('command', 'kim', { command: 'x' })).payload.code).toMatch(/^AGENT_/);
});

test('an observer sends neither errors nor events, sealed or not; its own status it tells', async () => {
  const who = { workspace: 'w-observe' };
  const [agent, observer] = [
    await connectAgent('agent', who),
    await connect('eve', { ...who, role: 'observer' }),
  ];
  for (const [type, payload] of words('eve').filter(([kind]) => kind !== 'command_response')) {
    if (type === 'status_update' && payload !== sealed) continue;
    const refused = await observer.ask(type, 'agent', payload);
    expect([type, refused.type, refused.payload.code]).toEqual([type, 'error', 'UNAUTHORIZED']);
  }
  await agent.hub('list_threads');
  expect(agent.heard.filter(({ source }) => source === 'eve')).toEqual([]);
  observer.say('status_update', undefined, { agentId: 'eve', status: 'busy', capabilities: [] });
  await expect
    .poll(async () => (await agent.hub<{ status: string }>('get_agent', { of_agent: 'eve' })).status)
    .toBe('busy');
});

test('whoever answers what was not asked of it is told so, and the asker hears nothing of it', async () => {
  const [dashboard, agent, thief] = [
    await connect('dash', { role: 'operator' }),
    await connectAgent('sis'),
    await connectAgent('thief'),
  ];
  const asking = dashboard.ask('command', 'sis', { command: 'run_task' });
  const { id } = await agent.until(({ type }) => type === 'command');
  const mine = { requestId: id, success: true, executionTime: 0 };
  const forged: [Parameters<LiveClient['say']>[0], unknown][] = [
    ['command_response', mine],
    ['command_response', { ...sealed, requestId: id }],
    ['error', { ...trouble, details: { requestId: id } }],
    ['error', { ...sealed, requestId: id }],
    ['command_response', { ...mine, requestId: randomUUID() }],
  ];
  const from = dashboard.heard.length;
  for (const [type, payload] of forged) {
    const refused = await thief.ask(type, 'dash', payload);
    expect(refused).toMatchObject({
      type: 'error',
      source: 'parley',
      payload: { code: 'INVALID_COMMAND', details: { reason: 'not_asked', field: 'requestId' } },
    });
  }
  const reply = await send(`${scene.hub.url}/v1/live/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenOf('thief', {})}` },
    body: JSON.stringify(envelope('thief', 'command_response', 'dash', mine)),
  });
  expect([reply.status, JSON.parse(reply.text)]).toMatchObject([
    400,
    { payload: { code: 'INVALID_COMMAND' } },
  ]);
  expect(dashboard.heard).toHaveLength(from);
  agent.say('command_response', 'dash', { ...mine, result: 'mine' });
  expect((await asking).payload.result).toBe('mine');
  expect((await agent.ask('command_response', 'dash', mine)).payload).toMatchObject({
    code: 'INVALID_COMMAND',
  });
});

test('what is passed on sealed cannot pass for an answer', async () => {
  const [dashboard, agent, thief] = [
    await connect('dash', { role: 'operator' }),
    await connectAgent('sis'),
    await connectAgent('thief'),
  ];
  const asked = dashboard.say('command', 'sis', { command: 'run_task' });
  await agent.until(({ type }) => type === 'command');
  for (const type of ['event', 'status_update'] as const)
    thief.say(type, 'dash', { ...sealed, requestId: asked });
  const passed = (): number =>
    dashboard.heard.filter(({ source, payload }) => source === 'thief' && 'jwe' in payload).length;
  await expect.poll(passed).toBe(2);
  expect(dashboard.heard.filter((message) => answers(message, asked))).toEqual([]);
});

test('what an agent reports in a thread is shown to those alone who may read it', async () => {
  const who = { workspace: 'w-events' };
  const [person, observer, agent, peer, reader] = [
    await connect('ann', { ...who, role: 'operator' }),
    await connect('eve', { ...who, role: 'observer' }),
    await connectAgent('sis', who),
    await connect('atr', who),
    await connect('reader', who),
  ];
  await observer.hub('follow_workspace');
  const { thread_id } = await agent.hub<{ thread_id: string }>('create_thread', {
    title: 'quiet',
    participants: ['reader'],
  });
  const event = (text: string, more = {}) => ({ eventType: 'info', agentId: 'sis', data: { text }, ...more });
  agent.say('event', undefined, event('in a thread', { threadId: thread_id }));
  const report = { thread_id, event_type: 'info', data: { text: 'in a thread' } };
  await scene.as('sis', { ...who, session: 'sis-2' }).ok('report_event', report as never);
  await agent.hub('report_event', report);
  const texts = (client: LiveClient): string[] =>
    client.heard.filter(({ type }) => type === 'event').map(({ payload }) => payload.data.text);
  for (const client of [person, reader]) await expect.poll(() => texts(client)).toHaveLength(3);
  agent.say('event', undefined, event('of itself'));
  for (const client of [observer, peer]) {
    await client.until(({ type }) => type === 'event');
    await client.hub('list_threads');
    expect(texts(client)).toEqual(['of itself']);
  }
});

test('an operator counts the connections of his workspace and of no other', async () => {
  const [one, two] = [
    await connect('ann', { role: 'operator', workspace: 'w-count-1' }),
    await connect('ben', { role: 'operator', workspace: 'w-count-2' }),
  ];
  await connect('sis', { workspace: 'w-count-2' });
  two.say('command_response', 'ann', { requestId: randomUUID(), success: true, executionTime: 0 });
  await two.until(({ type }) => type === 'error');
  const quiet = { questions: 0, late_responses: 0 };
  expect(await one.hub('live_stats')).toEqual({ connections: 1, unknown_responses: 0, ...quiet });
  expect(await two.hub('live_stats')).toEqual({ connections: 2, unknown_responses: 1, ...quiet });
});
