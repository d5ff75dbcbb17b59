import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { modern } from '../harness/mcp-wire.ts';
import { checkStored, storedMessages } from '../harness/oracle.ts';
import { runJson } from '../harness/run-cli.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { startStdio, type StdioClient, type StdioOptions } from '../harness/stdio-client.ts';
import { issueToken } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';

interface Envelope {
  error?: { code: string; message: string; request_id: string };
}

function start(options: StdioOptions): StdioClient {
  const client = startStdio(options);
  onTestFinished(async () => void (await client.kill('SIGKILL')));
  return client;
}

async function thread(client: StdioClient, ...participants: string[]): Promise<string> {
  const made = await client.call<{ thread_id: string }>('create_thread', { title: 'x', participants });
  return made.thread_id;
}

const post = (thread_id: string, body: string, more: Record<string, unknown> = {}) => ({
  thread_id,
  schema_version: 1,
  body,
  ...more,
});

test('[C-MCP-11] stdout holds JSON-RPC only, whatever warns or prints', async () => {
  const data = freshFolder();
  const preload = join(dirname(data), 'noise.mjs');
  writeFileSync(
    preload,
    `process.emitWarning('a forced warning');
     process.once('SIGUSR2', () => { console.log('print'); console.info('info'); process.stdout.write('raw'); process.emitWarning('late'); new Buffer(1); });`,
  );
  const client = start({
    data,
    env: { NODE_OPTIONS: `--trace-warnings --import ${preload}`, NODE_NO_WARNINGS: '0' },
  });
  await client.initialize();
  process.kill(client.pid, 'SIGUSR2');
  await vi.waitFor(() => expect(client.stderr()).toContain('raw'), 20_000);
  const thread_id = await thread(client);
  await client.call('post_message', post(thread_id, 'hello'));
  expect(await client.end()).toBe(0);
  expect(client.stderr()).toMatch(/a forced warning[\s\S]*late/);
  const lines = client.stdout().split('\n');
  expect(lines.pop()).toBe('');
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test('it runs a hub where none runs, others join it, and one of them carries on when it ends', async () => {
  const data = freshFolder();
  const first = start({ data, args: ['--agent', 'alice'] });
  await first.initialize();
  const thread_id = await thread(first, 'bob');
  const second = start({ data, args: ['--agent', 'bob'] });
  await second.initialize();
  await second.call('post_message', post(thread_id, 'from bob'));
  const page = await first.call<{ messages: { body: string }[] }>('read_messages', { thread_id });
  expect(page.messages.map(({ body }) => body)).toEqual(['from bob']);
  const { url } = JSON.parse(readFileSync(join(data, 'hub.json'), 'utf8')) as { url: string };
  const { token } = await issueToken({ agent: 'carol', workspace: 'default', role: 'operator' }, { data });
  const { answer } = await modern(url, token, 'tools/call', { name: 'get_thread', arguments: { thread_id } });
  expect(answer?.result?.['structuredContent']).toMatchObject({ last_seq: 1 });
  expect(await first.end()).toBe(0);
  const { seq } = await second.call<{ seq: number }>('post_message', post(thread_id, 'on my own'));
  expect(seq).toBe(2);
  expect(await second.end()).toBe(0);
  await checkStored(data);
});

test('many that start at once agree on one hub', async () => {
  const data = freshFolder();
  const clients = Array.from({ length: 3 }, (_, i) => start({ data, args: ['--agent', `a${i}`] }));
  await Promise.all(clients.map((client) => client.initialize()));
  const made = await Promise.all(clients.map((client) => thread(client, 'a0')));
  const [first] = clients;
  const { threads } = (await first?.call<{ threads: { thread_id: string }[] }>('list_threads', {})) ?? {
    threads: [],
  };
  expect(threads.map(({ thread_id }) => thread_id).toSorted()).toEqual(made.toSorted());
  for (const client of clients) expect(await client.end()).toBe(0);
});

test('a hub that ran in its own right is waited for when it has gone, and its folder stays free for it', async () => {
  const data = freshFolder();
  const hub = await startHub({ data });
  const client = start({ data, args: ['--agent', 'alice'], env: { PARLEY_MCP_RETURN_MS: '2000' } });
  await client.initialize();
  const thread_id = await thread(client);
  await client.call('post_message', post(thread_id, 'one', { idempotency_key: 'k1' }));
  await hub.kill();
  const { error } = await client.call<Envelope>('read_messages', { thread_id });
  expect(error).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('start it again with parley serve') as string,
  });
  // The hub first: where none runs, a client that has never seen one is its own.
  const again = await startHub({ data });
  const waiting = start({ data, args: ['--agent', 'alice'], env: { PARLEY_MCP_RETURN_MS: '60000' } });
  await waiting.initialize();
  await waiting.call('read_messages', { thread_id });
  await again.kill();
  const asked = waiting.call<{ seq: number }>('post_message', post(thread_id, 'two'));
  const back = await startHub({ data });
  expect((await asked).seq).toBe(2);
  const page = await client.call<{ messages: { seq: number }[] }>('read_messages', { thread_id });
  expect(page.messages.map(({ seq }) => seq)).toEqual([1, 2]);
  for (const one of [client, waiting]) expect(await one.end()).toBe(0);
  expect(await back.stop()).toBe(0);
  await checkStored(data);
});

test('a call that a dying hub swallowed is repeated with its key, or told apart honestly without one', async () => {
  const data = freshFolder();
  const hub = await startHub({ data });
  const client = start({ data, args: ['--agent', 'alice'] });
  await client.initialize();
  const thread_id = await thread(client);
  // Stopped, it takes connections and answers nothing.
  process.kill(hub.pid, 'SIGSTOP');
  const keyed = client.call('post_message', post(thread_id, 'keyed', { idempotency_key: 'k' }));
  const bare = client.call<Envelope>('post_message', post(thread_id, 'bare'));
  const read = client.call<{ messages: unknown[] }>('read_messages', { thread_id });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await hub.kill();
  const back = await startHub({ data });
  expect(await keyed).toMatchObject({ message_id: expect.stringMatching(/^msg_/) as string });
  expect((await bare).error).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('idempotency_key') as string,
  });
  expect((await read).messages.length).toBeLessThanOrEqual(1);
  expect(await client.end()).toBe(0);
  await back.stop();
  expect((await storedMessages(data)).map(({ body }) => body)).toEqual(['keyed']);
});

describe('beside a hub that runs', () => {
  const data = freshFolder();
  let hub: HubProcess;
  beforeAll(async () => {
    hub = await startHub({ data });
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
  });

  test('the identity comes from flags, else from the environment, else from the client’s own name', async () => {
    const who = async (client: StdioClient): Promise<unknown> => {
      const thread_id = await thread(client);
      await client.call('post_message', post(thread_id, 'who am I'));
      const { messages } = await client.call<{ messages: Record<string, string>[] }>('read_messages', {
        thread_id,
      });
      const { workspace_id } = await client.call<{ workspace_id: string }>('get_thread', { thread_id });
      const { sender_agent_id, sender_session_id = '' } = messages[0] ?? {};
      await client.end();
      return [sender_agent_id, workspace_id, sender_session_id.replace(/[0-9a-f]{8}$/, '#')];
    };
    const flags = ['--agent', 'fay', '--workspace', 'w5', '--role', 'operator', '--session', 's-1'];
    const env = { PARLEY_AGENT: 'eli', PARLEY_WORKSPACE: 'w6', PARLEY_ROLE: 'worker', PARLEY_SESSION: 's-2' };
    const byFlags = start({ data, args: flags, env });
    await byFlags.initialize();
    expect(await who(byFlags)).toEqual(['fay', 'w5', 's-1']);
    const byEnv = start({ data, env });
    await byEnv.initialize();
    expect(await who(byEnv)).toEqual(['eli', 'w6', 's-2']);
    const byName = start({ data });
    await byName.initialize('  Claude Code (v2)! ');
    expect(await who(byName)).toEqual(['claude-code-v2', 'default', 'claude-code-v2-#']);
  });

  test('[HUB-E5] a client that says nothing of itself is known as long as it runs', async () => {
    const { token } = await issueToken({ agent: 'watcher', workspace: 'default' }, { data });
    const stateOf = async (name: string) => {
      const { agents } = succeeded(await v1Driver.call(hub.url, token, 'list_agents', {}));
      return agents.find(({ agent_id }) => agent_id === name);
    };
    const other = start({ data, args: ['--agent', 'other'] });
    await other.initialize('Some Éditor');
    await vi.waitFor(
      async () =>
        expect(await stateOf('other')).toMatchObject({ status: 'online', runtimes: ['Some ditor'] }),
      20_000,
    );
    expect(await other.end()).toBe(0);
    expect(await stateOf('other')).toMatchObject({ status: 'offline' });
  });

  test('a hub elsewhere is reached with its address and a token; without a token it does not start', async () => {
    const { token, jti } = await issueToken({ agent: 'gil' }, { data: hub.data });
    const elsewhere = freshFolder();
    const file = join(dirname(elsewhere), 'token');
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const client = start({ data: elsewhere, args: ['--token-file', file], env: { PARLEY_URL: hub.url } });
    await client.initialize();
    const thread_id = await thread(client);
    expect(await client.call('get_thread', { thread_id })).toMatchObject({
      created_by: 'gil',
      workspace_id: 'w1',
    });
    const bare = start({ data: elsewhere, env: { PARLEY_URL: hub.url } });
    expect(await bare.end()).toBe(4);
    expect(bare.stderr()).toContain('PARLEY_TOKEN');
    await runJson(['token', 'revoke', jti], { data: hub.data });
    const { error } = await client.call<Envelope>('get_thread', { thread_id });
    expect(error).toMatchObject({
      code: 'UNAUTHORIZED',
      request_id: expect.stringMatching(/^req_/) as string,
    });
    const { token: fresh } = await issueToken({ agent: 'gil' }, { data: hub.data });
    writeFileSync(file, fresh);
    expect(await client.call('get_thread', { thread_id })).toMatchObject({ created_by: 'gil' });
    await client.end();
  });

  test('both eras give the same tools and answers as HTTP; --legacy speaks only the older ones', async () => {
    const { token } = await issueToken({ agent: 'alice', workspace: 'default' }, { data });
    const overHttp = await modern(hub.url, token, 'tools/list');
    const tools = overHttp.answer?.result?.['tools'];
    const newest = start({ data, args: ['--agent', 'alice'] });
    expect((await newest.modern('server/discover')).result?.['supportedVersions']).toEqual(['2026-07-28']);
    expect((await newest.modern('tools/list')).result?.['tools']).toEqual(tools);
    const older = start({ data, args: ['--agent', 'alice', '--legacy'] });
    expect((await older.modern('server/discover')).error).toBeDefined();
    await older.initialize();
    expect((await older.legacy('tools/list')).result?.['tools']).toEqual(tools);
    const calls: [string, Record<string, unknown>][] = [
      ['list_threads', {}],
      ['get_thread', { thread_id: 'th_none' }],
      ['create_thread', {}],
      ['create_thread', { title: 'x', idempotency_key: 'one' }],
      ['read_messages', { thread_id: 'th_none', workspace_id: 'other' }],
      ['post_message', { thread_id: 'th_none', schema_version: 1, body: 'x', agent_id: 'bob' }],
    ];
    const bare = (message: { result?: Record<string, unknown> }): unknown =>
      JSON.parse(
        JSON.stringify([message.result?.['content'], message.result?.['structuredContent']]).replaceAll(
          /req_[\w-]+/g,
          'req',
        ),
      );
    for (const [name, input] of calls) {
      const params = { name, arguments: input };
      const { answer } = await modern(hub.url, token, 'tools/call', params);
      expect(bare(await newest.modern('tools/call', params))).toEqual(bare(answer ?? {}));
      expect(bare(await older.legacy('tools/call', params))).toEqual(bare(answer ?? {}));
    }
    await newest.end();
    await older.end();
  });

  test('a thread that grows is told on stdio, in both eras', async () => {
    const { token } = await issueToken({ agent: 'alice', workspace: 'default' }, { data });
    const create = async (...participants: string[]) =>
      succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x', participants })).thread_id;
    const [thread_id, hidden] = [await create('bob'), await create()];
    const uri = `parley://threads/${thread_id}`;
    const listening = start({ data, args: ['--agent', 'bob'] });
    await listening.modern('server/discover');
    const wanted = { resourceSubscriptions: [uri, `parley://threads/${hidden}`] };
    void listening.modern('subscriptions/listen', { notifications: wanted }).catch(() => {});
    await vi.waitFor(() => expect(listening.unasked()).toHaveLength(1), 20_000);
    expect(listening.unasked()[0]?.params?.['notifications']).toEqual({ resourceSubscriptions: [uri] });
    const subscribed = start({ data, args: ['--agent', 'bob'] });
    await subscribed.initialize();
    expect((await subscribed.legacy('resources/subscribe', { uri })).result).toEqual({});
    expect(
      (await subscribed.legacy('resources/subscribe', { uri: `parley://threads/${hidden}` })).error?.data,
    ).toMatchObject({ code: 'FORBIDDEN' });
    for (const input of [post(hidden, 'unheard'), post(thread_id, 'heard')])
      succeeded(await v1Driver.call(hub.url, token, 'post_message', input));
    for (const client of [listening, subscribed]) {
      const heard = () =>
        client.unasked().filter(({ method }) => method === 'notifications/resources/updated');
      await vi.waitFor(() => expect(heard()).toHaveLength(1), 20_000);
      expect(heard()[0]?.params).toMatchObject({ uri });
    }
    for (const client of [listening, subscribed]) expect(await client.end()).toBe(0);
  });
});

test('[C-HUB-27] lines that are no strict JSON are refused, and the next line is served, also where there are few file descriptors', async () => {
  const client = start({ data: freshFolder(), inside: ['sh', '-c', 'ulimit -n 64; exec "$0" "$@"'] });
  expect((await client.initialize()).error).toBeUndefined();
  const title = (text: string): string =>
    `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"create_thread","arguments":{"title":${text}}}}`;
  const bad: [number, string | Uint8Array][] = [
    [-32_700, '{'],
    [-32_700, title('"a","title":"b"')],
    [-32_700, title(String.raw`"\u0000"`)],
    [-32_700, title(String.raw`"\ud800"`)],
    // Not UTF-8, overlong, CESU-8.
    ...[[0xff], [0xc3, 0x28], [0xc0, 0xaf], [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]].map(
      (bytes): [number, Buffer] => [
        -32_700,
        Buffer.from(title(`"${String.fromCharCode(...bytes)}"`), 'latin1'),
      ],
    ),
    [-32_600, `[${title('"x"')}]`],
    [-32_600, '{}'],
    [-32_600, title(`"${'x'.repeat(200_000)}"`)],
  ];
  for (const [, line] of bad) client.write(line);
  await vi.waitFor(() => expect(client.unasked()).toHaveLength(bad.length), 20_000);
  expect(client.unasked().map(({ error }) => error?.code)).toEqual(bad.map(([code]) => code));
  expect(await client.call('list_threads', {})).toEqual({ threads: [], next_before: null });
  expect(await thread(client)).toMatch(/^th_/);
  expect(await client.end()).toBe(0);
});

test('it ends with its client: when stdin closes, after what was asked is answered, and on a signal', async () => {
  const data = freshFolder();
  const client = start({ data });
  await client.initialize();
  const asked = client.call('create_thread', { title: 'last words' });
  expect(await client.end()).toBe(0);
  expect(await asked).toMatchObject({ status: 'active' });
  // The first of them runs the hub, the second has joined it.
  const others = [start({ data })];
  await others[0]?.initialize();
  others.push(start({ data }));
  await others[1]?.initialize();
  for (const [i, signal] of (['SIGTERM', 'SIGINT'] as const).entries())
    expect(await others[i]?.kill(signal)).toBe(0);
  await checkStored(data);
});
