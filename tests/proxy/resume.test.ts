import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { errorOf, PROGRAM, type ProxyClient } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const run = (...args: string[]) =>
  spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: place().work,
    env: { PATH: process.env['PATH'], HOME: place().home, ATM_HOME: place().home },
    input: '',
    encoding: 'utf8',
  });

/** The instructions with which the child began a thread. */
async function instructions(proxy: ProxyClient, args: object = {}): Promise<string> {
  const { structuredContent } = await proxy.call('codex', { prompt: 'echo', ...args });
  return (JSON.parse(structuredContent.content) as Record<string, string>)['developer-instructions'] ?? '';
}

/** A session that was summed up at the end of its proxy. */
async function endedSession(): Promise<{ agent_id: string; threadId: string }> {
  const proxy = await start();
  const { agent_id, threadId } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  await proxy.kill('SIGTERM');
  return { agent_id, threadId };
}

describe('[FR-6.1] [FR-6.2] [FR-13.3] serve --resume', () => {
  test('[AT shutdown/3] [C-PROXY-41] the summary of the last session comes first, once', async () => {
    await endedSession();
    const proxy = await start({ args: ['--resume'] });
    const told = await instructions(proxy, { 'developer-instructions': 'Be brief.' });
    expect(told).toMatch(
      /^Summary of this session[^]*what was done so far\n\nBe brief\.\n\n<session-context/,
    );
    expect(await instructions(proxy, { identity: 'other' })).not.toContain('what was done');
  });

  test('a session by its id', async () => {
    const { agent_id } = await endedSession();
    const proxy = await start({ args: ['--resume', agent_id] });
    expect(await instructions(proxy)).toContain('what was done so far');
  });

  test('[AT shutdown/4] [FR-6.3] [C-PROXY-41] after SIGKILL there is no summary, which is told and no harm', async () => {
    const before = await start();
    await before.call('codex', { prompt: 'say hi' });
    await before.kill('SIGKILL');
    const proxy = await start({ args: ['--resume'] });
    expect(await instructions(proxy)).not.toContain('Summary');
    expect(proxy.stderr()).toContain('resumed without a summary');
  });

  test('[C-PROXY-41] an id that nobody has is an error', async () => {
    const { status, stdout } = run('serve', '--resume', 'codex:none', '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'SESSION_NOT_FOUND' } });
  });
});

test('[FR-13.5] [FR-13.6] [FR-6.4] [C-PROXY-41] sessions lists and prunes, summary shows; what is active is kept', async () => {
  const { agent_id, threadId } = await endedSession();
  const folder = join(place().home, '.config/atm/agent-sessions/default/codex', threadId);
  expect(existsSync(join(folder, 'summary.md'))).toBe(true);
  const other = await start({ args: ['--identity', 'other'] });
  const active = (await other.call('codex', { prompt: 'say hi' })).structuredContent.agent_id;
  const list = (...args: string[]) =>
    (
      JSON.parse(run('sessions', '--json', ...args).stdout) as { sessions: { agent_id: string }[] }
    ).sessions.map((session) => session.agent_id);
  expect(new Set(list())).toEqual(new Set([agent_id, active]));
  expect(list('--identity', 'codex')).toEqual([agent_id]);
  expect(list('--repo', 'none')).toEqual([]);
  expect(run('sessions').stdout).toContain(agent_id);
  expect(run('summary', agent_id).stdout).toBe('what was done so far\n');
  expect(run('summary', 'codex:none').status).toBe(3);
  expect(run('summary', active).status).toBe(3);
  expect(list('--prune')).toEqual([active]);
  expect(existsSync(folder)).toBe(false);
  expect((await errorOf(other.call('codex-reply', { agent_id, prompt: 'x' }))).code).toBe(-32_002);
  expect((await other.call('codex-reply', { agent_id: active, prompt: 'say on' })).isError).toBeUndefined();
});
