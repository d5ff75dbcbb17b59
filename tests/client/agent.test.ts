import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { type AgentOptions, type Client, createClient, openAgent } from '@parley/client';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';

import { freshPath, issueToken, startHub, type TestHub } from '../cli/parley.ts';

async function scene(): Promise<{ hub: TestHub; person: Client; token: string }> {
  const hub = await startHub(freshPath());
  const [token, operator] = await Promise.all([
    issueToken(hub.data, 'builder'),
    issueToken(hub.data, 'ann', 'operator'),
  ]);
  return { hub, token, person: createClient({ url: hub.url, token: operator }) };
}

async function join(options: Omit<AgentOptions, 'name'>) {
  const agent = await openAgent({ name: 'The builder', WebSocket, ...options });
  onTestFinished(() => agent.close().catch(() => {}));
  return agent;
}

const view = async (person: Client) => {
  const { name, state, reason, status, capabilities, connected } = await person.get_agent({
    of_agent: 'builder',
  });
  return { name, state, reason, status, capabilities, connected };
};

test('with the session that had it in hand a session of the same program reads offline, until it is heard again', async () => {
  const { hub, token, person } = await scene();
  const native_session_id = randomUUID();
  const about = { management_mode: 'managed', resumable: true, native_session_id } as const;
  const agent = await join({ url: hub.url, token, session: about, commands: { work: () => ({}) } });
  // As its own MCP server says, and is killed with it.
  const [inner, other] = await Promise.all(
    ['inner', 'other'].map(async (session) => {
      const url = hub.url;
      return createClient({
        url,
        token: await issueToken(hub.data, 'builder', 'worker', session),
      });
    }),
  );
  const beat = { runtime: 'codex_cli', status: 'idle', resumable: true } as const;
  await inner?.heartbeat_session({ ...beat, native_session_id });
  await other?.heartbeat_session({ ...beat, native_session_id: randomUUID() });
  const statuses = async () =>
    Object.fromEntries(
      (await person.list_sessions()).sessions.map(({ session_id, status }) => [session_id, status]),
    );
  expect(await statuses()).toMatchObject({ inner: 'idle', other: 'idle' });
  await agent.close();
  await expect.poll(statuses).toMatchObject({ inner: 'offline', other: 'idle' });
  await inner?.heartbeat_session({ ...beat, native_session_id });
  expect(await statuses()).toMatchObject({ inner: 'idle', other: 'idle' });
});

test('an agent without commands: registered, alive, at work, at rest, gone', async () => {
  const { hub, token, person } = await scene();
  const agent = await join({ url: hub.url, token, heartbeatMs: 100 });
  expect(agent.agentId).toBe('builder');
  expect(await view(person)).toMatchObject({ name: 'The builder', state: 'idle', connected: [] });
  await agent.status('busy', { currentTask: 'the mapper' });
  expect(await view(person)).toMatchObject({ state: 'working', reason: 'the mapper', status: 'busy' });
  const seen = async () => (await person.list_sessions()).sessions[0]?.last_heartbeat_at;
  const first = await seen();
  await expect.poll(seen).not.toBe(first);
  await agent.event('task_failed', { message: 'npm test failed' });
  expect(await view(person)).toMatchObject({ state: 'error', reason: 'npm test failed' });
  await agent.status('online');
  const { failure } = await person.get_agent({ of_agent: 'builder' });
  await person.dismiss_error({ of_agent: 'builder', failed_at: failure?.at ?? '' });
  expect(await view(person)).toMatchObject({ state: 'idle' });
  await agent.close();
  expect(await view(person)).toMatchObject({ state: 'offline', reason: 'process gone' });
});

test('an ask brings its verdict, over a hub that goes down in between', async () => {
  const { hub, token, person } = await scene();
  const agent = await join({ url: hub.url, token });
  const verdict = agent.ask({ kind: 'approval', prompt: 'May I push?', command: 'git push' });
  await expect.poll(async () => (await person.list_asks()).asks.length).toBe(1);
  const { port } = new URL(hub.url);
  await hub.stop('SIGKILL');
  await sleep(300);
  await startHub(hub.data, ['--port', port]);
  const { asks } = await person.list_asks();
  await person.answer_ask({ ask_id: asks[0]?.ask_id ?? '', decision: 'approved', scope: 'once' });
  expect(await verdict).toMatchObject({ decision: 'approved', scope: 'once', by: 'ann' });
  expect(await agent.ask({ prompt: 'May I?', expires_in_ms: 1_000 })).toMatchObject({
    decision: 'denied',
    by: 'parley',
  });
  const end = new AbortController();
  const given = agent.ask({ prompt: 'May I?' }, { signal: end.signal });
  setTimeout(() => end.abort(new Error('enough')), 300);
  await expect(given).rejects.toThrow('enough');
});

test('commands run where they are known, and their results and errors come back', async () => {
  const { hub, token, person } = await scene();
  const changes: string[] = [];
  const agent = await join({
    url: hub.url,
    token,
    commands: {
      add: ({ a, b }) => Number(a) + Number(b),
      fail: () => Promise.reject(Object.assign(new Error('no disk'), { code: 'RESOURCE_EXHAUSTED' })),
      nothing: () => {},
    },
    onConnection: (state) => changes.push(state),
  });
  await expect.poll(() => changes).toEqual(['open']);
  expect(await view(person)).toMatchObject({ connected: ['ws'], capabilities: ['add', 'fail', 'nothing'] });
  const command = (name: string, parameters = {}) =>
    person.command_agent({ of_agent: 'builder', command: name, parameters });
  expect(await command('add', { a: 2, b: 3 })).toMatchObject({ success: true, result: 5 });
  expect(await command('nothing')).toMatchObject({ success: true });
  expect(await command('fail')).toMatchObject({
    success: false,
    error: { code: 'RESOURCE_EXHAUSTED', message: 'no disk' },
  });
  await agent.close();
  await expect.poll(async () => (await view(person)).state).toBe('offline');
});

test('a lost connection comes back, with what the agent was at, and a command is done once', async () => {
  const { hub, token, person } = await scene();
  const done: string[] = [];
  const changes: string[] = [];
  const sockets: WebSocket[] = [];
  class Watched extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      sockets.push(this);
    }
  }
  const agent = await join({
    url: hub.url,
    token,
    WebSocket: Watched,
    commands: {
      async slow({ id }) {
        done.push(String(id));
        sockets.at(-1)?.terminate();
        // Done before the connection is back, and after it.
        await sleep(id === 'one' ? 0 : 1_500);
        return `did ${String(id)}`;
      },
    },
    onConnection: (state) => changes.push(state),
  });
  await expect.poll(() => changes).toEqual(['open']);
  await agent.status('busy', { currentTask: 'a long one' });
  for (const id of ['one', 'two'])
    expect(
      await person.command_agent({
        of_agent: 'builder',
        command: 'slow',
        parameters: { id },
        timeout_ms: 20_000,
      }),
    ).toMatchObject({ success: true, result: `did ${id}` });
  expect(done).toEqual(['one', 'two']);
  await expect.poll(() => changes).toEqual(['open', 'lost', 'open', 'lost', 'open']);
  await expect
    .poll(() => view(person))
    .toMatchObject({ state: 'working', reason: 'a long one', connected: ['ws'] });
});

test('a second connection of the same session takes the place of the first, which does not fight back', async () => {
  const { hub, token, person } = await scene();
  const first: string[] = [];
  const second: string[] = [];
  const who = (name: string) => ({ who: () => name });
  await join({ url: hub.url, token, commands: who('first'), onConnection: (state) => first.push(state) });
  await expect.poll(() => first).toEqual(['open']);
  await join({ url: hub.url, token, commands: who('second'), onConnection: (state) => second.push(state) });
  await expect.poll(() => second).toEqual(['open']);
  await expect.poll(() => first).toEqual(['open', 'replaced']);
  await sleep(500);
  expect([first, second]).toEqual([['open', 'replaced'], ['open']]);
  expect(await person.command_agent({ of_agent: 'builder', command: 'who' })).toMatchObject({
    result: 'second',
  });
});
