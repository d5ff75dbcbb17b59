import { request } from 'node:http';

import { expect, onTestFinished, test } from 'vitest';

import { send, type Reply } from '../harness/send.ts';
import { linesOf } from '../harness/stored-record.ts';
import { useHub } from '../harness/use-hub.ts';
import { dial, envelope, type Heard, type LiveClient, obey, registration } from './live-client.ts';

const scene = useHub({
  settings: {
    'log.level': 'trace',
    'live.messages_per_minute': 10_000,
    'live.messages_burst': 10_000,
    'live.mailbox_idle_ms': 2_000,
    'live.mailbox_messages': 20,
    'live.command_timeout_ms': 3_000,
  },
});

/** A client without a socket. */
function httpClient(agent: string, role = 'worker') {
  const { token } = scene.as(agent, { role });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const url = `${scene.hub.url}/v1/live/messages`;
  const post = (type: Heard['type'], target: string | undefined, payload: unknown): Promise<Reply> =>
    send(url, { method: 'POST', headers, body: JSON.stringify(envelope(agent, type, target, payload)) });
  let after = '';
  return {
    token,
    post,
    async ask(type: Heard['type'], target: string | undefined, payload: unknown): Promise<[number, Heard]> {
      const { status, text } = await post(type, target, payload);
      return [status, JSON.parse(text) as Heard];
    },
    async poll(wait = 5_000): Promise<Heard[]> {
      const answer = await send(`${url}?wait_ms=${wait}${after === '' ? '' : `&after=${after}`}`, {
        headers,
      });
      expect(answer.status).toBe(200);
      const page = JSON.parse(answer.text) as { messages: Heard[]; after: string };
      after = page.after;
      return page.messages;
    },
  };
}

const connectAs = (agent: string, role = 'worker'): Promise<LiveClient> =>
  dial(scene.hub.url, agent, scene.as(agent, { role }).token);

const run = { command: 'run_task', parameters: { a: 1 } };

test('[LIVE-10] a dashboard over HTTP commands an agent over /ws, and watches', async () => {
  const agent = await connectAs('sis');
  await agent.hub('register_agent', registration);
  obey(agent);
  const dashboard = httpClient('dash', 'operator');
  const [status, answer] = await dashboard.ask('command', 'sis', run);
  expect(status).toBe(200);
  expect(answer).toMatchObject({ type: 'command_response', source: 'sis', payload: { success: true } });
  expect((await dashboard.ask('command', 'ghost', run))[0]).toBe(404);
  const [offline, refusal] = await dashboard.ask('command', 'sis', { command: 'dance' });
  expect([offline, refusal.payload.code]).toEqual([400, 'INVALID_COMMAND']);

  expect((await dashboard.ask('command', 'parley', { command: 'follow_workspace' }))[0]).toBe(200);
  agent.say('event', undefined, { eventType: 'info', agentId: 'sis', data: { n: 1 } });
  agent.say('status_update', undefined, { agentId: 'sis', status: 'busy', capabilities: [] });
  const heard: Heard[] = [];
  while (heard.length < 2) heard.push(...(await dashboard.poll()));
  expect(heard.map(({ type }) => type)).toEqual(['event', 'status_update']);
  expect(await dashboard.poll(50)).toEqual([]);
});

test('[LIVE-10] an agent over HTTP is commanded by a dashboard over /ws: every type goes in by POST and out by long poll', async () => {
  const dashboard = await connectAs('dash', 'operator');
  await dashboard.hub('follow_workspace');
  const agent = httpClient('webber');
  expect(await agent.poll(0)).toEqual([]);
  const registered = await agent.ask('command', 'parley', {
    command: 'register_agent',
    parameters: registration,
  });
  expect(registered[0]).toBe(200);
  const asked = dashboard.ask('command', 'webber', run);
  const [command] = await agent.poll();
  expect(command).toMatchObject({ type: 'command', source: 'dash', payload: run });
  const response = { requestId: command?.id, success: true, result: 7, executionTime: 3 };
  expect((await agent.post('command_response', 'dash', response)).status).toBe(202);
  expect((await asked).payload).toMatchObject({ success: true, result: 7 });

  const status = dashboard.ask('status_request', 'webber');
  expect((await agent.poll())[0]).toMatchObject({ type: 'status_request' });
  const payload = { agentId: 'webber', status: 'busy', capabilities: ['run_task'] };
  expect((await agent.post('status_update', undefined, payload)).status).toBe(202);
  expect((await status).payload).toMatchObject({ status: 'busy' });
  const event = { eventType: 'task_started', agentId: 'webber', data: { x: 1 } };
  expect(JSON.parse((await agent.post('event', undefined, event)).text)).toEqual({ accepted: true });
  expect((await dashboard.until(({ type }) => type === 'event')).payload).toMatchObject(event);
  const error = { code: 'TASK_TIMEOUT', message: 'too slow', recoverable: true };
  expect((await agent.post('error', 'dash', error)).status).toBe(202);
  expect(
    (await dashboard.until(({ source, type }) => source === 'webber' && type === 'error')).payload,
  ).toMatchObject(error);
  const forged = await agent.ask('event', undefined, { ...event, agentId: 'dash' });
  expect([forged[0], forged[1].payload.code]).toEqual([403, 'UNAUTHORIZED']);
  const bad = await send(`${scene.hub.url}/v1/live/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    body: '{"id":1}',
  });
  expect([bad.status, (JSON.parse(bad.text) as Heard).type]).toEqual([400, 'error']);
  // Nobody fetches any more: the agent is gone.
  await dashboard.until((last) => last.payload.agentId === 'webber' && last.payload.status === 'offline');
  expect((await dashboard.ask('command', 'webber', run)).payload.code).toBe('AGENT_OFFLINE');
});

test('[LIVE-10] the same as server-sent events, from where the reader was', async () => {
  const dashboard = await connectAs('dash', 'operator');
  const { token } = scene.as('streamer');
  const open = (last?: string) => {
    let text = '';
    const outgoing = request(
      `${scene.hub.url}/v1/live/messages`,
      {
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          ...(last === undefined ? {} : { 'last-event-id': last }),
        },
      },
      (response) => response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk)),
    );
    outgoing.on('error', () => {});
    outgoing.end();
    onTestFinished(() => void outgoing.destroy());
    return { text: () => text, close: () => outgoing.destroy() };
  };
  const stream = open();
  await expect.poll(() => stream.text()).toContain(': stream');
  dashboard.say('command', 'streamer', { command: 'one' });
  await expect.poll(() => stream.text()).toContain('"command":"one"');
  const last = /^id: (.+)$/m.exec(stream.text())?.[1];
  stream.close();
  dashboard.say('command', 'streamer', { command: 'two' });
  const again = open(last);
  await expect.poll(() => again.text()).toContain('"command":"two"');
  expect(again.text()).not.toContain('"command":"one"');
  again.close();
});

test('[LIVE-10] [LIVE-14] [R6] a mailbox is bounded, and says what it has left out', async () => {
  const agent = await connectAs('chatty');
  const witness = await connectAs('witness', 'observer');
  await witness.hub('follow_workspace');
  const watcher = httpClient('watcher', 'observer');
  await watcher.ask('command', 'parley', { command: 'follow_workspace' });
  for (let n = 0; n < 50; n++)
    agent.say('event', undefined, { eventType: 'info', agentId: 'chatty', data: { n } });
  await expect.poll(() => witness.heard.filter(({ type }) => type === 'event').length).toBe(50);
  const first = await watcher.poll();
  expect(first.map(({ payload }) => payload.data.n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  const [gap] = await watcher.poll();
  expect(gap?.payload).toMatchObject({ code: 'RESOURCE_EXHAUSTED', details: { reason: 'gap', missed: 30 } });
});

test('[LIVE-12] what is sealed passes through unread, unstored and unlogged', async () => {
  const dashboard = await connectAs('dash', 'operator');
  const agent = await connectAs('sealed');
  await agent.hub('register_agent', { ...registration, capabilities: [] });
  const secret = `CANARY${'x'.repeat(40)}`;
  scene.ledger.secrets.add(secret);
  const jwe = `eyJhbGciOiJkaXIifQ..aXY.${secret}.dGFn`;
  const sealed = { contentType: 'application/jose', jwe };
  agent.on(({ type, id, payload }) => {
    if (type !== 'command') return;
    if (payload.jwe === undefined)
      agent.say('command_response', 'dash', {
        requestId: id,
        success: true,
        result: sealed,
        executionTime: 1,
      });
    else agent.say('command_response', 'dash', { ...sealed, requestId: id });
  });
  const whole = await dashboard.ask('command', 'sealed', sealed);
  expect(whole.payload).toMatchObject(sealed);
  const inside = await dashboard.ask('command', 'sealed', { command: 'run_task', parameters: sealed });
  expect(inside.payload).toMatchObject({ success: true, result: sealed });
  const commands = agent.heard.filter(({ type }) => type === 'command').map(({ payload }) => payload);
  expect(commands).toEqual([sealed, { command: 'run_task', parameters: sealed }]);
  agent.say('event', 'dash', sealed);
  expect((await dashboard.until(({ type }) => type === 'event')).payload).toEqual(sealed);
  const torn = await dashboard.ask('command', 'sealed', { contentType: 'application/jose', jwe: 'a.b' });
  expect(torn.payload).toMatchObject({ code: 'INVALID_COMMAND', details: { field: 'payload.jwe' } });
  expect((await linesOf(scene.hub.data)).join('\n')).not.toContain(secret);
  expect((await linesOf(scene.hub.data)).join('\n')).toContain('"opaque":true');
});

test('[LIVE-5] every face can command an agent: command_agent over /v1', async () => {
  const agent = await connectAs('worker-bee');
  await agent.hub('register_agent', registration);
  obey(agent);
  const operator = scene.as('boss', { role: 'operator' });
  expect(await operator.ok('command_agent', { of_agent: 'worker-bee', command: 'run_task' })).toMatchObject({
    success: true,
    result: { did: 'run_task' },
  });
  await operator.refused('command_agent', { of_agent: 'ghost', command: 'run_task' }, 'NOT_FOUND');
  await agent.close();
  const offline = await operator.refused(
    'command_agent',
    { of_agent: 'worker-bee', command: 'run_task' },
    'UNAVAILABLE',
  );
  expect(offline.details).toMatchObject({ reason: 'agent_offline' });
  await scene
    .as('peer')
    .refused('command_agent', { of_agent: 'ghost', command: 'x' }, 'INSUFFICIENT_AUTHORITY');
});

test('[LIVE-7] what is reported over /v1 is shown to those who watch /ws', async () => {
  const dashboard = await connectAs('dash', 'observer');
  await dashboard.hub('follow_workspace');
  const alice = scene.as('alice');
  await alice.ok('report_event', { event_type: 'warning', data: { text: 'over http' } });
  await alice.ok('update_agent_status', { status: 'busy' });
  expect((await dashboard.until(({ type }) => type === 'event')).payload).toMatchObject({
    eventType: 'warning',
    agentId: 'alice',
    data: { text: 'over http' },
  });
  expect((await dashboard.until(({ type }) => type === 'status_update')).payload).toMatchObject({
    agentId: 'alice',
    status: 'busy',
  });
});
