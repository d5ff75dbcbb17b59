import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { PROGRAM, type ProxyClient, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();
const SUMMARY = 'what was done so far';

const toldOf = (proxy: ProxyClient): string[] =>
  proxy
    .received()
    .filter(({ method }) => method === 'tools/call')
    .map(
      ({ params }) =>
        (params as { arguments: Record<string, string> }).arguments['developer-instructions'] ?? '',
    );

const promptsOf = (proxy: ProxyClient): string[] =>
  proxy
    .received()
    .filter(({ method }) => method === 'tools/call')
    .map(({ params }) => (params as { arguments: { prompt: string } }).arguments.prompt);

function run(...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: place().home, ATM_HOME: place().home };
  return spawnSync(process.execPath, [PROGRAM, ...args], { cwd: place().work, env, encoding: 'utf8' });
}

/** A session that a proxy had, and whose proxy is gone. */
async function leave(how: 'SIGTERM' | 'SIGKILL', identity = 'codex') {
  const proxy = await start();
  const { agent_id } = (await proxy.call('codex', { prompt: `say ${identity}`, identity })).structuredContent;
  await proxy.kill(how);
  rmSync(place().log);
  return agent_id;
}

describe('[FR-13.3] serve --resume', () => {
  test('[FR-6.1] [AT shutdown/3] [C-PROXY-41] the newest session of the identity, its summary before the first turn', async () => {
    await leave('SIGTERM');
    await leave('SIGTERM', 'other');
    const agent_id = await leave('SIGTERM');
    const proxy = await start({ args: ['--resume'] });
    const reply = await proxy.call('codex-reply', { agent_id, prompt: 'say on' });
    expect(reply.structuredContent).toMatchObject({ agent_id, identity: 'codex', content: 'on' });
    await proxy.call('codex-reply', { agent_id, prompt: 'say more' });
    const [first = '', second] = toldOf(proxy);
    expect(first).toContain(SUMMARY);
    expect(first.indexOf(SUMMARY)).toBeLessThan(first.indexOf('<session-context'));
    expect(second).not.toContain(SUMMARY);
    expect(promptsOf(proxy).join()).not.toContain(SUMMARY);
  });

  test('[FR-6.1] a first `codex` call that names no session goes on with the resumed one, the next does not', async () => {
    const agent_id = await leave('SIGTERM');
    const proxy = await start({ args: ['--resume'] });
    const first = await proxy.call('codex', { prompt: 'say on' });
    expect(first.structuredContent.agent_id).toBe(agent_id);
    expect(toldOf(proxy)[0]).toContain(SUMMARY);
    const second = await proxy.call('codex', { prompt: 'say new', identity: 'other' });
    expect(second.structuredContent.agent_id).not.toBe(agent_id);
    await expect(proxy.call('codex', { prompt: 'say again' })).rejects.toMatchObject({ code: -32_001 });
  });

  test('[FR-6.2] a session that is named', async () => {
    const agent_id = await leave('SIGTERM');
    await leave('SIGTERM');
    const proxy = await start({ args: ['--resume', agent_id] });
    expect((await proxy.call('agent_status')).structuredContent['identities']).toEqual([
      { identity: 'codex', agent_id, status: 'idle' },
    ]);
  });

  test('[FR-3.2] [FR-6.3] [AT shutdown/2] [AT shutdown/4] [AT initialization/7] [C-PROXY-41] after SIGKILL it goes on without a summary, and says so', async () => {
    const agent_id = await leave('SIGKILL');
    const proxy = await start({ args: ['--resume'] });
    await until(() => proxy.stderr().includes('resumed without a summary'));
    const line = proxy
      .stderr()
      .split('\n')
      .find((text) => text.includes('resumed without a summary'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'warn' });
    await proxy.call('codex-reply', { agent_id, prompt: 'say on' });
    expect(JSON.stringify(proxy.received())).not.toContain('Summary of this session');
  });

  test('[FR-6.3] a summary of an earlier end is not taken for that of a crash', async () => {
    const agent_id = await leave('SIGTERM');
    const second = await start({ args: ['--resume'] });
    await second.call('codex-reply', { agent_id, prompt: 'say on' });
    await second.kill('SIGKILL');
    rmSync(place().log);
    const third = await start({ args: ['--resume'] });
    await third.call('codex-reply', { agent_id, prompt: 'say on' });
    expect(promptsOf(third)).toHaveLength(1);
    expect(JSON.stringify(third.received())).not.toContain(SUMMARY);
  });

  test('nothing to resume, or a folder that is gone: it serves all the same', async () => {
    const empty = await start({ args: ['--resume'] });
    expect(empty.stderr()).toContain('there is no session to resume');
    await empty.end();
    const folder = join(place().root, 'gone');
    mkdirSync(folder);
    const proxy = await start();
    await proxy.call('codex', { prompt: 'say hi', cwd: folder });
    await proxy.end();
    rmSync(folder, { recursive: true });
    const again = await start({ args: ['--resume'] });
    expect(again.stderr()).toContain('could not be resumed');
    expect((await again.call('codex', { prompt: 'say hi' })).structuredContent.content).toBe('hi');
  });

  test('[C-PROXY-41] an unknown session is an error', () => {
    const { status, stderr } = run('serve', '--resume', 'codex:none');
    expect(status).toBe(3);
    expect(stderr).toContain("There is no session 'codex:none'");
  });
});

describe('the sessions of a team on the command line', () => {
  interface Listed {
    sessions: { agent_id: string; identity: string; status: string; resumable: boolean }[];
  }
  const list = (...args: string[]): Listed['sessions'] =>
    (JSON.parse(run('sessions', '--json', ...args).stdout) as Listed).sessions;

  test('[FR-13.5] [FR-20.3] sessions of two proxies are listed together, each with its own registry, or by identity and repository', async () => {
    const one = await start({ args: ['--identity', 'one'] });
    const two = await start({ args: ['--identity', 'two'] });
    const a = (await one.call('codex', { prompt: 'say hi' })).structuredContent.agent_id;
    const b = (await two.call('codex', { prompt: 'say hi' })).structuredContent.agent_id;
    expect(
      list()
        .map(({ agent_id }) => agent_id)
        .toSorted(),
    ).toEqual([a, b].toSorted());
    expect(list('--identity', 'two')).toMatchObject([{ agent_id: b, status: 'idle', resumable: false }]);
    expect(list('--repo', 'elsewhere')).toEqual([]);
    const repo = join(place().work, 'in-git');
    execFileSync('git', ['init', '-q', repo]);
    const c = (await one.call('codex', { prompt: 'say hi', identity: 'three', cwd: repo })).structuredContent
      .agent_id;
    expect(list('--repo', 'in-git')).toMatchObject([{ agent_id: c, identity: 'three' }]);
    await one.call('agent_close', { agent_id: c });
    const { sessions } = (await one.call('agent_sessions')).structuredContent as unknown as Listed;
    expect(sessions.map(({ agent_id }) => agent_id)).toEqual([a, c]);
    await two.kill('SIGKILL');
    expect(list('--identity', 'two')).toMatchObject([{ agent_id: b, status: 'stale', resumable: true }]);
    expect(run('sessions').stdout).toMatch(/AGENT +IDENTITY +STATUS/);
    // By it a mail could pass for one that its session has.
    expect(run('sessions', '--json').stdout).not.toContain('mail_key');
  });

  test('[FR-13.5] [C-PROXY-41] --prune forgets what ended and keeps what is active', async () => {
    const ended = await leave('SIGTERM');
    const summary = join(place().home, '.config/atm/agent-sessions/default/codex');
    const other = await start({ args: ['--identity', 'other'] });
    const active = (await other.call('codex', { prompt: 'say hi' })).structuredContent.agent_id;
    const closed = (await other.call('codex', { prompt: 'say hi', identity: 'third' })).structuredContent
      .agent_id;
    await other.call('agent_close', { agent_id: closed });
    const pruned = JSON.parse(run('sessions', '--prune', '--json').stdout) as object;
    expect(pruned).toEqual({ removed: [ended], kept_by_running: ['other'] });
    expect(list().map(({ agent_id }) => agent_id)).toEqual(expect.arrayContaining([active, closed]));
    expect(list().some(({ agent_id }) => agent_id === ended)).toBe(false);
    expect(existsSync(join(summary, 'registry.json'))).toBe(true);
  });

  test('[FR-13.6] [FR-6.4] [C-PROXY-41] summary prints what was left, and fails for what is not there', async () => {
    const agent_id = await leave('SIGTERM');
    expect(run('summary', agent_id)).toMatchObject({ status: 0, stdout: `${SUMMARY}\n` });
    expect(JSON.parse(run('summary', agent_id, '--json').stdout)).toMatchObject({
      agent_id,
      summary: SUMMARY,
    });
    expect(run('summary', 'codex:none')).toMatchObject({ status: 3 });
    const without = await leave('SIGKILL', 'other');
    expect(run('summary', without)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('left no summary'),
    });
  });
});
