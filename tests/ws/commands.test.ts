import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { storedMessages } from '../harness/oracle.ts';
import { useHub } from '../harness/use-hub.ts';
import { answers, dial, type Heard, type LiveClient, obey, registration } from './live-client.ts';

const TIMEOUT_MS = 1_500;

const scene = useHub({
  settings: {
    'live.messages_per_minute': 100_000,
    'live.messages_burst': 10_000,
    'live.command_timeout_ms': TIMEOUT_MS,
    'live.max_concurrent': 3,
  },
});

interface Who {
  role?: string;
  session?: string;
  workspace?: string;
}

const connectAs = (agent: string, who: Who = {}): Promise<LiveClient> =>
  dial(scene.hub.url, agent, scene.as(agent, who).token);
const connectDashboard = (name: string, who: Who = {}): Promise<LiveClient> =>
  connectAs(name, { role: 'operator', ...who });

async function connectAgent(name: string, who: Who = {}, more: object = {}): Promise<LiveClient> {
  const agent = await connectAs(name, who);
  await agent.hub('register_agent', { ...registration, ...more });
  return agent;
}

const run = { command: 'run_task', parameters: { taskId: 'task-123' } };

test('[LIVE-5] [R12] a command goes to its target, the answer to the asker alone', async () => {
  const [dashboard, other, agent, bystander] = await Promise.all([
    connectDashboard('dash'),
    connectDashboard('dash-2'),
    connectAgent('sis'),
    connectAgent('atr'),
  ]);
  const commands = obey(agent);
  const answer = await dashboard.ask('command', 'sis', { ...run, correlationId: 'corr-7' });
  expect(answer).toMatchObject({
    type: 'command_response',
    source: 'sis',
    target: 'dash',
    payload: { success: true, result: { did: 'run_task', by: 'sis' }, executionTime: 1 },
  });
  expect(commands).toHaveLength(1);
  expect(commands[0]).toMatchObject({
    type: 'command',
    source: 'dash',
    target: 'sis',
    payload: { ...run, correlationId: 'corr-7' },
  });
  await Promise.all([other, bystander].map((client) => client.hub('list_threads')));
  for (const client of [other, bystander])
    expect(
      client.heard.filter(({ source, type }) => source !== 'parley' && type !== 'status_update'),
    ).toEqual([]);
});

test('[LIVE-5] a failure of the agent comes back as it is, and so does an error that names the command', async () => {
  const [dashboard, agent] = await Promise.all([connectDashboard('dash'), connectAgent('sis')]);
  const error = { code: 'NO_DISK', message: 'the disk is full', details: { free: 0 } };
  agent.on(({ type, id, payload }) => {
    if (type !== 'command') return;
    if (payload.command === 'run_task')
      agent.say('command_response', 'dash', { requestId: id, success: false, error, executionTime: 2 });
    else
      agent.say('error', 'dash', {
        code: 'INTERNAL_ERROR',
        message: 'broken',
        details: { requestId: id },
        recoverable: false,
      });
  });
  const failed = await dashboard.ask('command', 'sis', run);
  expect(failed.payload).toMatchObject({ success: false, error, executionTime: 2 });
  const broken = await dashboard.ask('command', 'sis', { command: 'health_check' });
  expect(broken).toMatchObject({ type: 'error', source: 'sis', payload: { code: 'INTERNAL_ERROR' } });
});

test('[C-WS-07] a command id used twice is executed once', async () => {
  const [dashboard, agent] = await Promise.all([connectDashboard('dash'), connectAgent('sis')]);
  const commands = obey(agent);
  const id = randomUUID();
  for (let i = 0; i < 3; i++) dashboard.say('command', 'sis', run, { id });
  await dashboard.until((message) => answers(message, id));
  await sleep(200);
  expect(commands).toHaveLength(1);
  const from = dashboard.heard.length;
  dashboard.say('command', 'sis', run, { id });
  const again = await dashboard.until((message) => dashboard.heard.indexOf(message) >= from);
  expect(again.payload).toMatchObject({ code: 'INVALID_COMMAND', details: { requestId: id } });
  expect(commands).toHaveLength(1);

  const { thread_id } = await dashboard.hub<{ thread_id: string }>('create_thread', { title: 't' });
  const post = { command: 'post_message', parameters: { thread_id, schema_version: 1, body: 'once' } };
  const twice = randomUUID();
  dashboard.say('command', 'parley', post, { id: twice });
  dashboard.say('command', 'parley', post, { id: twice });
  await expect.poll(() => dashboard.heard.filter((message) => answers(message, twice)).length).toBe(2);
  const { messages } = await dashboard.hub<{ messages: unknown[] }>('read_messages', { thread_id });
  expect(messages).toHaveLength(1);
});

test('[LIVE-6] [C-WS-10] unknown, disconnected, nobody in particular', async () => {
  const who = { workspace: 'w-10' };
  const dashboard = await connectDashboard('dash', who);
  expect((await dashboard.ask('command', undefined, run)).payload).toMatchObject({ code: 'AGENT_OFFLINE' });
  const agents = await Promise.all(['a', 'b', 'c'].map((name) => connectAgent(name, who)));
  const foreign = await connectAgent('d', { workspace: 'w-other' });
  expect((await dashboard.ask('command', 'ghost', run)).payload).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  expect((await dashboard.ask('command', 'd', run)).payload).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  await agents[2]?.close();
  expect((await dashboard.ask('command', 'c', run)).payload).toMatchObject({ code: 'AGENT_OFFLINE' });

  const heard = agents.map(obey);
  const id = dashboard.say('command', undefined, run);
  await expect.poll(() => dashboard.heard.filter((message) => answers(message, id)).length).toBe(2);
  await sleep(100);
  const by = dashboard.heard
    .filter((message) => answers(message, id))
    .map(({ payload }) => payload.result.by);
  expect(new Set(by)).toEqual(new Set(['a', 'b']));
  expect(heard.map(({ length }) => length)).toEqual([1, 1, 0]);
  expect(foreign.heard.filter(({ type }) => type === 'command')).toEqual([]);
  expect(dashboard.heard.filter(({ type }) => type === 'command')).toEqual([]);
});

test('[LIVE-6] [C-WS-11] [C-WS-12] no answer in time is a time-out; a late or stray answer is dropped and counted', async () => {
  const [dashboard, agent] = await Promise.all([connectDashboard('dash'), connectAgent('sis')]);
  const stats = () => dashboard.hub<{ late_responses: number; unknown_responses: number }>('live_stats');
  const before = await stats();
  const asked = dashboard.ask('command', 'sis', run);
  const { id } = await agent.until(({ type }) => type === 'command');
  const timedOut = await asked;
  expect(timedOut).toMatchObject({
    type: 'error',
    payload: { code: 'TASK_TIMEOUT', recoverable: true, details: { timeout: TIMEOUT_MS } },
  });
  const from = dashboard.heard.length;
  const answer = { success: true, executionTime: 1 };
  agent.say('command_response', 'dash', { requestId: id, ...answer });
  agent.say('command_response', 'dash', { requestId: randomUUID(), ...answer });
  await agent.hub('list_threads');
  expect(dashboard.heard).toHaveLength(from);
  expect(await stats()).toMatchObject({
    late_responses: before.late_responses + 1,
    unknown_responses: before.unknown_responses + 1,
  });
});

test('[C-WS-13] [R12] equal ids of two dashboards do not meet', async () => {
  const [one, two, a, b] = await Promise.all([
    connectDashboard('dash'),
    connectDashboard('dash-2'),
    connectAgent('a'),
    connectAgent('b'),
  ]);
  obey(a);
  obey(b);
  const id = randomUUID();
  one.say('command', 'a', run, { id });
  two.say('command', 'b', run, { id });
  const answersOf = await Promise.all(
    [one, two].map((client) => client.until((message) => answers(message, id))),
  );
  expect(answersOf.map(({ payload }) => payload.result.by)).toEqual(['a', 'b']);
  const same = randomUUID();
  one.say('command', 'a', run, { id: same });
  two.say('command', 'a', { command: 'health_check' }, { id: same });
  const others = await Promise.all(
    [one, two].map((client) => client.until((message) => answers(message, same))),
  );
  expect(others.map(({ payload }) => payload.result.did)).toEqual(['run_task', 'health_check']);
});

test('[R12] an agent cannot answer what was asked of another', async () => {
  const [dashboard, agent, thief] = await Promise.all([
    connectDashboard('dash'),
    connectAgent('sis'),
    connectAgent('thief'),
  ]);
  const asked = dashboard.ask('command', 'sis', run);
  const { id } = await agent.until(({ type }) => type === 'command');
  thief.say('command_response', 'dash', { requestId: id, success: true, result: 'stolen', executionTime: 0 });
  await thief.hub('list_threads');
  agent.say('command_response', 'dash', { requestId: id, success: true, result: 'mine', executionTime: 0 });
  expect((await asked).payload.result).toBe('mine');
});

test('[LIVE-6] beyond its limit, outside its list, without the right: each has its code', async () => {
  const [dashboard, worker, observer, agent, anything] = await Promise.all([
    connectDashboard('dash'),
    connectAs('worker'),
    connectAs('looker', { role: 'observer' }),
    connectAgent('busy', {}, { maxConcurrent: 2 }),
    connectAgent('any', {}, { capabilities: [] }),
  ]);
  obey(anything);
  expect((await dashboard.ask('command', 'any', { command: 'whatever' })).payload.success).toBe(true);
  expect((await dashboard.ask('command', 'busy', { command: 'dance' })).payload).toMatchObject({
    code: 'INVALID_COMMAND',
    details: { field: 'payload.command' },
  });
  for (const client of [worker, observer])
    expect((await client.ask('command', 'sis', run)).payload).toMatchObject({ code: 'UNAUTHORIZED' });
  expect((await worker.ask('command', 'parley', { command: 'follow_workspace' })).payload).toMatchObject({
    code: 'UNAUTHORIZED',
  });
  expect((await dashboard.ask('command', 'parley', { command: 'dance' })).payload).toMatchObject({
    code: 'INVALID_COMMAND',
  });
  const ids = [1, 2, 3].map(() => dashboard.say('command', 'busy', run));
  const refused = await dashboard.until((message) => answers(message, ids[2] ?? ''));
  expect(refused.payload).toMatchObject({ code: 'RESOURCE_EXHAUSTED', details: { limit: 2 } });
  expect(agent.heard.filter(({ type }) => type === 'command').length).toBeLessThanOrEqual(2);
});

test('[LIVE-3] a status request is answered by the agent, or by what was last known of it', async () => {
  const [dashboard, agent] = await Promise.all([connectDashboard('dash'), connectAgent('sis')]);
  agent.on(({ type, id }) => {
    if (type !== 'status_request') return;
    agent.say('status_update', 'dash', {
      agentId: 'sis',
      status: 'busy',
      capabilities: ['x'],
      requestId: id,
    });
  });
  const live = await dashboard.ask('status_request', 'sis');
  expect(live).toMatchObject({
    type: 'status_update',
    source: 'sis',
    payload: { agentId: 'sis', status: 'busy' },
  });
  await agent.close();
  const known = await dashboard.ask('status_request', 'sis');
  expect(known).toMatchObject({ source: 'parley', payload: { status: 'offline', capabilities: ['x'] } });
  expect((await dashboard.ask('status_request', 'ghost')).payload).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  expect((await dashboard.ask('status_request', 'parley')).payload).toMatchObject({
    agentId: 'parley',
    status: 'online',
  });
});

test('[LIVE-7] an event is stored in the log and shown to all who are there; with a target, to that one alone', async () => {
  const [dashboard, other, agent, peer] = await Promise.all([
    connectDashboard('dash'),
    connectAs('eve', { role: 'observer' }),
    connectAgent('sis'),
    connectAgent('atr'),
  ]);
  const foreign = await connectDashboard('dash', { workspace: 'w-elsewhere' });
  const events = ({ heard }: LiveClient): Heard[] => heard.filter(({ type }) => type === 'event');
  const payload = { eventType: 'task_completed', agentId: 'sis', data: { taskId: randomUUID() } };
  agent.say('event', undefined, payload);
  const everyone = [dashboard, other, peer];
  const shown = await Promise.all(everyone.map((client) => client.until(({ type }) => type === 'event')));
  for (const message of shown) expect(message).toMatchObject({ source: 'sis', payload });
  expect(new Set(shown.map(({ id }) => id)).size).toBe(1);

  const further = ['task_started', 'task_progress', 'task_failed', 'error', 'warning', 'info'];
  for (const [i, eventType] of further.entries()) {
    const next = { ...payload, eventType, data: { taskId: randomUUID() } };
    agent.say('event', undefined, next);
    const heard = await dashboard.until((message) => events(dashboard).indexOf(message) === i + 1);
    expect(heard.payload).toMatchObject(next);
  }

  const secret = { ...payload, eventType: 'warning', data: { taskId: randomUUID() } };
  agent.say('event', 'atr', secret);
  expect((await peer.until((message) => events(peer).indexOf(message) === 7)).payload).toMatchObject(secret);
  await Promise.all([...everyone, agent, foreign].map((client) => client.hub('list_threads')));
  expect([dashboard, other, peer, agent, foreign].map((client) => events(client).length)).toEqual([
    7, 7, 8, 0, 0,
  ]);
  const stored = JSON.stringify(await storedMessages(scene.hub.data));
  expect(stored).toContain(payload.data.taskId);
  expect(stored).toContain(secret.data.taskId);
});

test('[LIVE-4] [LIVE-7] an untargeted status reaches all who are there, once, and not its sender', async () => {
  const who = { workspace: 'w-status' };
  const [dashboard, watcher, agent, peer] = await Promise.all([
    connectDashboard('dash', who),
    connectDashboard('dash-2', who),
    connectAs('sis', who),
    connectAs('atr', who),
  ]);
  await watcher.hub('follow_workspace');
  const status = { agentId: 'sis', status: 'busy', capabilities: ['x'] };
  agent.say('status_update', undefined, status);
  const busy = ({ heard }: LiveClient): Heard[] => heard.filter(({ payload }) => payload.status === 'busy');
  for (const client of [dashboard, watcher, peer])
    expect(await client.until(({ payload }) => payload.status === 'busy')).toMatchObject({
      type: 'status_update',
      source: 'sis',
      payload: status,
    });
  // Asked for, it is the answer to the one who asks; with a target it is for that one, and for those who watch.
  const asked = dashboard.say('status_request', 'sis');
  await agent.until(({ type }) => type === 'status_request');
  agent.say('status_update', undefined, { ...status, metadata: { uptime: 7 } });
  await dashboard.until((message) => answers(message, asked));
  agent.say('status_update', 'dash', { ...status, metadata: { uptime: 8 } });
  await watcher.until(({ payload }) => payload.metadata?.uptime === 8);
  await Promise.all([dashboard, watcher, agent, peer].map((client) => client.hub('list_threads')));
  expect([dashboard, watcher, peer, agent].map((client) => busy(client).length)).toEqual([3, 3, 2, 0]);
  await agent.close();
  for (const client of [dashboard, watcher, peer])
    await client.until(({ source, payload }) => source === 'parley' && payload.status === 'offline');
});

test('[C-WS-23] a second connection of a session takes its place; of two sessions none gets what does not name it', async () => {
  const dashboard = await connectDashboard('dash');
  const first = await connectAgent('twin');
  const second = await connectAgent('twin');
  expect(await first.closed).toEqual({ code: 4409, reason: 'this session has connected again' });
  const heard = obey(second);
  await dashboard.ask('command', 'twin', run);
  expect(heard).toHaveLength(1);

  const later = await connectAs('twin', { session: 'twin-2' });
  await dashboard.ask('command', 'twin', run);
  expect(heard).toHaveLength(2);
  await later.hub('register_agent', registration);
  const others = obey(later);
  const refused = await dashboard.ask('command', 'twin', run);
  expect(refused).toMatchObject({
    type: 'error',
    payload: {
      code: 'INVALID_COMMAND',
      message: expect.stringContaining('2 sessions of twin take this'),
      details: {
        reason: 'several_sessions',
        sessions: expect.arrayContaining(['twin-2']),
        field: 'targetSession',
      },
    },
  });
  expect([heard.length, others.length]).toEqual([2, 0]);
  const boss = scene.as('ann', { role: 'operator' });
  const about = { of_agent: 'twin', ...run };
  const { details } = await boss.refused('command_agent', about, 'CONFLICT');
  expect(details).toMatchObject({ field: 'of_session', reason: 'several_sessions' });
  expect(await boss.ok('command_agent', { ...about, of_session: 'twin-2' })).toMatchObject({ success: true });
  expect([heard.length, others.length]).toEqual([2, 1]);
  await boss.refused('command_agent', { ...about, of_session: 'nobody' }, 'UNAVAILABLE');
  later.ws.terminate();
  await sleep(100);
  await dashboard.ask('command', 'twin', run);
  expect([heard.length, others.length]).toEqual([3, 1]);
});

test('[LIVE-13] a command whose agent drops waits for it, and is delivered once', async () => {
  const [dashboard, agent] = await Promise.all([connectDashboard('dash'), connectAgent('sis')]);
  // An agent that has stopped reading: what is sent to it is lost with its connection.
  agent.ws.pause();
  const missed = dashboard.ask('command', 'sis', run);
  await sleep(200);
  agent.ws.terminate();
  await sleep(100);
  const back = await connectAs('sis');
  const commands = obey(back);
  expect((await missed).payload).toMatchObject({ success: true, result: { by: 'sis' } });
  expect(commands).toHaveLength(1);

  // An agent that has received the command and then loses its connection is not asked again: it answers later.
  const slow = await connectAgent('slow');
  const late = dashboard.ask('command', 'slow', run);
  const { id } = await slow.until(({ type }) => type === 'command');
  await sleep(100);
  slow.ws.terminate();
  const again = await connectAs('slow');
  await sleep(100);
  expect(again.heard.filter(({ type }) => type === 'command')).toEqual([]);
  again.say('command_response', 'dash', { requestId: id, success: true, result: 'done', executionTime: 9 });
  expect((await late).payload.result).toBe('done');
});

test('[LIVE-13] an asker that reconnects gets its answer', async () => {
  const [dashboard, agent] = await Promise.all([connectDashboard('dash'), connectAgent('sis')]);
  const id = dashboard.say('command', 'sis', run);
  const command = await agent.until(({ type }: Heard) => type === 'command');
  dashboard.ws.terminate();
  const back = await connectDashboard('dash');
  agent.say('command_response', 'dash', {
    requestId: command.id,
    success: true,
    result: 'still here',
    executionTime: 1,
  });
  const answer = await back.until((message) => answers(message, id));
  expect(answer.payload.result).toBe('still here');
});
