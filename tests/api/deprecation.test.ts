import { randomUUID } from 'node:crypto';

import { expect, onTestFinished, test } from 'vitest';

import { modern } from '../harness/mcp-wire.ts';
import { send } from '../harness/send.ts';
import { startStdio } from '../harness/stdio-client.ts';
import { useHub } from '../harness/use-hub.ts';
import { dial } from '../ws/live-client.ts';
import { envelopeOf, sendEnvelope } from '../knowledge/envelope-client.ts';

const dates = { announced_at: '2026-01-01T00:00:00.000Z', ends_at: '2027-01-01T00:00:00.000Z' };
const ending = { operation: 'list_threads', ...dates, use: 'wait_for_messages' };
const others = ['post_message', 'list_documents', 'read_messages'].map((operation) => ({
  operation,
  ...dates,
}));
const scene = useHub({ settings: { 'http.deprecated': JSON.stringify([ending, ...others]) } });

const TOLD = ['@1767225600', 'Fri, 01 Jan 2027 00:00:00 GMT'];
const META = 'parley/deprecation';

type Headers = Record<string, unknown>;
const told = ({ headers }: { headers: object }) => [
  (headers as Headers)['deprecation'],
  (headers as Headers)['sunset'],
];

test('an operation that is to end says so over POST, GET, OpenAPI and MCP, and no other does', async () => {
  const { url } = scene.hub;
  const { token } = scene.as('alice');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const posted = await send(`${url}/v1/list_threads`, { method: 'POST', headers, body: '{}' });
  const got = await send(`${url}/v1/threads`, { headers });
  for (const answer of [posted, got]) expect([answer.status, ...told(answer)]).toEqual([200, ...TOLD]);
  expect(posted.headers['link']).toBe('</v1/wait_for_messages>; rel="successor-version"');
  const refused = await send(`${url}/v1/list_threads`, { method: 'POST', headers, body: '{"limit":-1}' });
  expect([refused.status, ...told(refused)]).toEqual([400, ...TOLD]);
  const other = await send(`${url}/v1/me`, { headers });
  expect([other.status, ...told(other)]).toEqual([200, undefined, undefined]);
  const { paths } = JSON.parse((await send(`${url}/v1/openapi.json`)).text) as {
    paths: Record<string, Record<string, { deprecated?: boolean }>>;
  };
  expect(paths['/v1/list_threads']?.['post']?.deprecated).toBe(true);
  expect(paths['/v1/whoami']?.['post']?.deprecated).toBeUndefined();
  const meta = { [META]: ending };
  const listed = await modern(url, token, 'tools/list');
  const tools = listed.answer?.result?.['tools'] as { name: string }[];
  expect(tools.find(({ name }) => name === 'list_threads')).toMatchObject({ _meta: meta });
  expect(tools.find(({ name }) => name === 'whoami')).not.toHaveProperty('_meta');
  const called = await modern(url, token, 'tools/call', { name: 'list_threads', arguments: {} });
  expect(called.answer?.result).toMatchObject({ _meta: meta });
});

test('so do the events of a thread, a stream of messages, the live channel and the envelope', async () => {
  const { url } = scene.hub;
  const alice = scene.as('alice');
  const headers = { authorization: `Bearer ${alice.token}`, 'content-type': 'application/json' };
  const thread_id = await alice.thread();
  const post = (path: string, body: object) =>
    send(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const event = await post(`/v1/threads/${thread_id}/events`, { type: 'message', content: 'hello' });
  expect([event.status, ...told(event)]).toEqual([200, ...TOLD]);
  const presence = await post(`/v1/threads/${thread_id}/events`, {
    type: 'presence',
    content: { state: 'listening' },
  });
  expect([presence.status, ...told(presence)]).toEqual([200, undefined, undefined]);
  const stop = new AbortController();
  const stream = await fetch(`${url}/v1/threads/${thread_id}/messages`, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal: stop.signal,
  });
  expect([stream.headers.get('deprecation'), stream.headers.get('sunset')]).toEqual(TOLD);
  stop.abort();
  const say = (command: string) =>
    post('/v1/live/messages', {
      id: randomUUID(),
      type: 'command',
      timestamp: new Date().toISOString(),
      source: 'alice',
      target: 'parley',
      payload: { command, parameters: {} },
    });
  const [live, plain] = [await say('list_threads'), await say('whoami')];
  expect([live.status, ...told(live)]).toEqual([200, ...TOLD]);
  expect([plain.status, ...told(plain)]).toEqual([200, undefined, undefined]);
  const ed = scene.as('ed', { role: 'orchestrator' });
  const send22 = (action: string, args: object) =>
    sendEnvelope(url, ed.token, envelopeOf(action, { ...args }), { path: '/v1/envelope' });
  const listed = await send22('knowledge.list_documents', {});
  expect([listed.status, ...told(listed)]).toEqual([200, ...TOLD]);
  const services = await send22('registry.list', {});
  expect([services.status, ...told(services)]).toEqual([200, undefined, undefined]);
});

test('over /ws an answer of the hub says so, a refused one too, and the description lists it', async () => {
  const { url } = scene.hub;
  const { token } = scene.as('alice');
  const link = await dial(url, 'alice', token);
  const notice = {
    operation: 'list_threads',
    announcedAt: dates.announced_at,
    endsAt: dates.ends_at,
    use: 'wait_for_messages',
  };
  const say = (command: string, parameters: object = {}) =>
    link.ask('command', 'parley', { command, parameters });
  const { payload } = await say('list_threads');
  expect(payload).toMatchObject({ success: true, deprecation: notice });
  const refused = await say('list_threads', { limit: -1 });
  expect([refused.type, refused.payload.details.deprecation]).toEqual(['error', notice]);
  expect((await say('whoami')).payload).not.toHaveProperty('deprecation');
  const unknown = await say('no_such_command');
  expect(unknown.payload.details).not.toHaveProperty('deprecation');
  const { components } = JSON.parse((await send(`${url}/v1/asyncapi.json`)).text) as {
    components: { messages: Record<string, Record<string, unknown>> };
  };
  expect(components.messages['command']?.['x-deprecated-commands']).toMatchObject([
    notice,
    ...others.map(({ operation }) => ({ operation })),
  ]);
});

test('of what is to end only the hub speaks: an agent that answers so is not passed on with it', async () => {
  const { url } = scene.hub;
  const worker = await dial(url, 'worker', scene.as('worker').token);
  await worker.hub('register_agent', { name: 'worker', capabilities: ['run'] });
  worker.on(({ type, id, source }) => {
    const forged = { operation: 'run', announcedAt: dates.announced_at, endsAt: dates.ends_at };
    const answer = { requestId: id, success: true, executionTime: 1, deprecation: forged };
    if (type === 'command') worker.say('command_response', source, answer);
  });
  const boss = await dial(url, 'boss', scene.as('boss', { role: 'operator' }).token);
  const { payload } = await boss.ask('command', 'worker', { command: 'run' });
  expect([payload.success, payload.deprecation]).toEqual([true, undefined]);
});

test('over stdio a result says so, a refused one too, and from then on the tool list', async () => {
  const { token } = scene.as('alice');
  const client = startStdio({
    data: scene.hub.data,
    env: { PARLEY_TOKEN: token, PARLEY_URL: scene.hub.url },
  });
  onTestFinished(async () => void (await client.kill('SIGKILL')));
  await client.initialize();
  const call = async (name: string, input: object) =>
    (await client.legacy('tools/call', { name, arguments: input })).result;
  expect(await call('list_threads', {})).toMatchObject({ _meta: { [META]: ending } });
  expect(await call('list_threads', { limit: -1 })).toMatchObject({
    isError: true,
    _meta: { [META]: ending },
  });
  expect(await call('whoami', {})).not.toHaveProperty('_meta');
  const listed = (await client.legacy('tools/list')).result?.['tools'] as { name: string }[];
  expect(listed.filter((tool) => '_meta' in tool)).toMatchObject([
    { name: 'list_threads', _meta: { [META]: ending } },
  ]);
});
