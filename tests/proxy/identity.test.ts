import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { expect, test } from 'vitest';

import { errorOf, PROGRAM, until } from './proxy-client.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

test('[AT identity/2] [AT identity/3] [FR-2.5] [FR-3.1] [C-PROXY-09] [C-PROXY-08] each identity has one session', async () => {
  const proxy = await start();
  const arch = await proxy.call('codex', { prompt: 'echo', identity: 'arch-ctm' });
  const reported = JSON.parse(arch.structuredContent.content) as Record<string, string>;
  expect(reported['developer-instructions']).toContain('identity: "arch-ctm"');
  await proxy.call('codex', { prompt: 'say hi', identity: 'dev-1' });
  const conflict = await errorOf(proxy.call('codex', { prompt: 'say hi', identity: 'arch-ctm' }));
  expect(conflict).toMatchObject({
    code: -32_001,
    data: {
      error_source: 'proxy',
      error_name: 'IDENTITY_CONFLICT',
      conflicting_agent_id: arch.structuredContent.agent_id,
      identity: 'arch-ctm',
    },
  });
  const { structuredContent } = await proxy.call('agent_status');
  expect(structuredContent['identities']).toEqual([
    { identity: 'arch-ctm', agent_id: arch.structuredContent.agent_id, status: 'idle' },
    { identity: 'dev-1', agent_id: expect.any(String), status: 'idle' },
  ]);
});

test('[AT identity/4] [AT lifecycle/9] [FR-3.4] [FR-17.8] a closed session leaves its identity to a new one, and nothing of its thread', async () => {
  const proxy = await start();
  const first = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' })).structuredContent;
  const running = proxy.call('codex-reply', { agent_id: first.agent_id, prompt: 'wait' }).catch(() => {});
  await until(() => JSON.stringify(proxy.received()).includes('wait"'));
  const closed = await proxy.call('agent_close', { identity: 'arch' });
  await running;
  expect(closed.structuredContent['summary']).toBe('what was done so far');
  const second = (await proxy.call('codex', { prompt: 'echo', identity: 'arch' })).structuredContent;
  expect(second.content).not.toContain('what was done so far');
  expect(second.agent_id).not.toBe(first.agent_id);
  expect(second.threadId).not.toBe(first.threadId);
  const { sessions } = (await proxy.call('agent_sessions')).structuredContent as unknown as {
    sessions: Record<string, unknown>[];
  };
  expect(sessions.map(({ agent_id, status }) => [agent_id, status])).toEqual([
    [second.agent_id, 'idle'],
    [first.agent_id, 'closed'],
  ]);
});

test('[AT identity/5] [AT identity/6] [FR-13.2] [C-PROXY-08] the configured identity, else codex; a reply keeps it', async () => {
  const proxy = await start();
  const plain = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  expect(plain['identity']).toBe('codex');
  const reply = await proxy.call('codex-reply', { agent_id: plain.agent_id, prompt: 'echo' });
  expect(reply.structuredContent['identity']).toBe('codex');
  expect(reply.structuredContent.content).toContain('identity: \\"codex\\"');
  const other = await start({ args: ['--identity', 'reviewer'] });
  expect((await other.call('codex', { prompt: 'say hi' })).structuredContent['identity']).toBe('reviewer');
});

test('[FR-3.3] as many sessions at once as the settings say', async () => {
  const proxy = await start({ args: ['--set', 'max_concurrent_threads=2'] });
  for (const identity of ['one', 'two']) await proxy.call('codex', { prompt: 'say hi', identity });
  expect((await errorOf(proxy.call('codex', { prompt: 'say hi', identity: 'three' }))).code).toBe(-32_004);
});

test('[FR-3.3] [AT registry/4] [C-PROXY-10] [C-PROXY-11] [NFR-6] of thirty at once exactly ten are started', async () => {
  const proxy = await start();
  const calls = Array.from({ length: 30 }, (_, n) =>
    proxy.call('codex', { prompt: 'say hi', identity: `dev-${n}` }),
  );
  const ended = await Promise.allSettled(calls);
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  for (const one of ended)
    if (one.status === 'rejected')
      expect(one.reason).toMatchObject({ code: -32_004, data: { error_name: 'MAX_SESSIONS_EXCEEDED' } });
  expect(proxy.received().filter(({ method }) => method === 'tools/call')).toHaveLength(10);
});

test('[AT instances/2] [FR-20.1] [C-PROXY-32] a second proxy of the same identity is refused, another is not', async () => {
  const proxy = await start();
  await proxy.call('codex', { prompt: 'say hi', identity: 'arch' });
  const serve = (...args: string[]) =>
    spawnSync(process.execPath, [PROGRAM, 'serve', '--json', ...args], {
      cwd: place().work,
      env: { PATH: process.env['PATH'], ATM_HOME: place().home },
      input: '',
      encoding: 'utf8',
    });
  const second = serve();
  expect(second.status).toBe(1);
  expect(JSON.parse(second.stdout)).toMatchObject({ error: { code: 'IDENTITY_CONFLICT' } });
  expect(serve('--team', 'red').status).toBe(0);
  const other = await start({ args: ['--identity', 'other'] });
  expect((await errorOf(other.call('codex', { prompt: 'say hi', identity: 'arch' }))).code).toBe(-32_001);
  expect((await other.call('codex', { prompt: 'say hi', identity: 'dev' })).isError).toBeUndefined();
});

test('[C-PROXY-30] [FR-3.2] after SIGKILL nothing is left: no child, no lock; the sessions are stale, and their identities free', async () => {
  const proxy = await start();
  const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' })).structuredContent;
  const pid = proxy.received().find((line) => 'started' in line)?.['started'] as number;
  await proxy.kill('SIGKILL');
  await until(() => !existsSync(`/proc/${pid}`));
  const after = await start();
  const { sessions } = (await after.call('agent_sessions')).structuredContent as unknown as {
    sessions: Record<string, unknown>[];
  };
  expect(sessions).toMatchObject([{ agent_id, status: 'stale', resumable: true }]);
  expect((await after.call('codex', { prompt: 'say hi', identity: 'arch' })).isError).toBeUndefined();
});

test('[FR-20.1] [C-PROXY-32] [NFR-6] the client of a second proxy hears of the conflict in the words of its protocol', async () => {
  await start();
  const second = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: place().work,
    env: { PATH: process.env['PATH'], ATM_HOME: place().home },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(second, 'exit');
  const lines = createInterface({ input: second.stdout })[Symbol.asyncIterator]();
  for (const method of ['server/discover', 'initialize']) {
    second.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: method, method, params: {} })}\n`);
    expect(JSON.parse(String((await lines.next()).value))).toMatchObject({
      id: method,
      error: {
        code: -32_001,
        data: { error_source: 'proxy', error_name: 'IDENTITY_CONFLICT', identity: 'codex' },
      },
    });
  }
  second.stdin.end();
  expect(await ended).toEqual([1, null]);
});

test('[C-PROXY-33] a proxy that is stopped keeps its identity, however old its lock looks', async () => {
  const proxy = await start();
  proxy.process.kill('SIGSTOP');
  const lock = join(place().home, '.config/atm/agent-sessions/default/codex.lock');
  const longAgo = new Date(Date.now() - 600_000);
  for (let round = 0; round < 2; round++) {
    utimesSync(lock, longAgo, longAgo);
    const second = spawnSync(process.execPath, [PROGRAM, 'serve', '--json'], {
      cwd: place().work,
      env: { PATH: process.env['PATH'], ATM_HOME: place().home },
      input: '',
      encoding: 'utf8',
    });
    expect(JSON.parse(second.stdout)).toMatchObject({ error: { code: 'IDENTITY_CONFLICT' } });
    proxy.process.kill('SIGCONT');
    expect(await proxy.request('ping')).toEqual({});
  }
});

test('a lock file of another program blocks an identity while the process lives that it names, and no longer', async () => {
  const folder = join(place().home, '.config/atm/agent-sessions/default');
  mkdirSync(folder, { recursive: true });
  const other = spawn('sleep', ['60']);
  writeFileSync(join(folder, 'codex.lock'), '999999999\n');
  writeFileSync(join(folder, 'arch.lock'), JSON.stringify({ pid: other.pid, identity: 'arch' }));
  writeFileSync(join(folder, 'dev.lock'), 'who knows');
  symlinkSync(join(place().root, 'elsewhere'), join(folder, 'linked.lock'));
  const proxy = await start();
  const open = (identity: string) => proxy.call('codex', { prompt: 'say hi', identity });
  expect(await errorOf(open('arch'))).toMatchObject({
    code: -32_001,
    data: { error_name: 'IDENTITY_CONFLICT', identity: 'arch' },
  });
  other.kill('SIGKILL');
  await once(other, 'exit');
  for (const identity of ['arch', 'dev']) expect((await open(identity)).isError).toBeUndefined();
  const linked = await errorOf(open('linked'));
  expect(linked.code).toBe(-32_001);
  expect(linked.message).toContain('linked.lock is a link and cannot be a lock; remove it');
  expect(existsSync(join(place().root, 'elsewhere'))).toBe(false);
});

test('[FR-20.3] two proxies of one repository keep sessions of their own', async () => {
  const [a, b] = [await start({ args: ['--identity', 'a'] }), await start({ args: ['--identity', 'b'] })];
  const ofA = (await a.call('codex', { prompt: 'say hi' })).structuredContent.agent_id;
  const ofB = (await b.call('codex', { prompt: 'say hi' })).structuredContent.agent_id;
  for (const [proxy, own, other] of [
    [a, ofA, ofB],
    [b, ofB, ofA],
  ] as const) {
    const { structuredContent } = await proxy.call('agent_sessions');
    expect(structuredContent['sessions']).toMatchObject([{ agent_id: own }]);
    expect((await errorOf(proxy.call('codex-reply', { agent_id: other, prompt: 'x' }))).code).toBe(-32_002);
  }
  const folder = join(place().home, '.config/atm/agent-sessions/default');
  for (const identity of ['a', 'b']) expect(existsSync(join(folder, identity, 'registry.json'))).toBe(true);
});

test('[FR-17.9] [FR-10.1] a stale session is closed too, and can still be told from one that waits', async () => {
  const before = await start();
  const { agent_id } = (await before.call('codex', { prompt: 'say hi' })).structuredContent;
  await before.kill('SIGKILL');
  const after = await start();
  expect((await after.call('agent_close', { agent_id })).structuredContent).toMatchObject({
    status: 'closed',
  });
  expect((await errorOf(after.call('codex-reply', { agent_id, prompt: 'x' }))).code).toBe(-32_003);
  expect((await after.call('agent_sessions')).structuredContent['sessions']).toMatchObject([
    { agent_id, status: 'closed', resumable: true },
  ]);
});

test('[C-PROXY-34] a name that would leave its folder is refused before anything is made', async () => {
  const proxy = await start();
  for (const identity of ['../../x', 'a/b', '', '.', 'x'.repeat(300), 'a\u0301'])
    expect((await errorOf(proxy.call('codex', { prompt: 'say hi', identity }))).code).toBe(-32_602);
  expect(existsSync(join(place().home, '.config/atm/agent-sessions/default'))).toBe(true);
  expect(proxy.received()).toEqual([]);
});

test('a name with a dot is an identity, with its own files and the inbox that Claude Code gives it', async () => {
  const team = makeTeam(place());
  const proxy = await start({ args: ['--identity', 'dev.1'] });
  const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  team.deliver('dev-1', { text: 'hello dev' });
  await until(() => team.unread('dev-1').length === 0);
  expect((await proxy.call('agent_status')).structuredContent['identities']).toEqual([
    { identity: 'dev.1', agent_id, status: expect.stringMatching(/busy|idle/) as unknown },
  ]);
  expect(await errorOf(proxy.call('codex', { prompt: 'say hi', identity: 'dev-1' }))).toMatchObject({
    code: -32_001,
  });
  expect(team.members()).toContain('dev.1');
  const folder = join(place().home, '.config/atm/agent-sessions/default');
  for (const path of ['dev.1.lock', 'dev.1/registry.json']) expect(existsSync(join(folder, path))).toBe(true);
});
