import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient, until } from './proxy-client.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('[AT core/1] [FR-1.3] [FR-13.1] [C-PROXY-03] the child starts with the first Codex request, and once', async () => {
  const proxy = await start();
  const status = await proxy.call('agent_status');
  expect(status.structuredContent).toMatchObject({ child: { alive: false, pid: null }, active_threads: 0 });
  expect(proxy.received()).toEqual([]);
  await Promise.all(['a', 'b'].map((identity) => proxy.call('codex', { prompt: 'say hi', identity })));
  const started = proxy.received().filter((line) => 'started' in line);
  expect(started).toHaveLength(1);
  const after = await proxy.call('agent_status');
  expect(after.structuredContent).toMatchObject({
    child: { alive: true, pid: started[0]?.['started'], backend: 'mcp-server', version: '0.120.0' },
    active_threads: 2,
  });
});

test('[AT core/2] [AT core/3] [FR-5.4] [FR-2.8] [C-PROXY-38] a session answers with its agent_id and goes on by it', async () => {
  const proxy = await start();
  const first = await proxy.call('codex', { prompt: 'say one' });
  expect(first).toMatchObject({ content: [{ type: 'text', text: 'one' }, {}] });
  const { agent_id, threadId } = first.structuredContent;
  expect(agent_id).toMatch(/^codex:[0-9a-f-]{36}$/);
  expect(first.content[1]?.text).toContain(agent_id);
  const next = await proxy.call('codex-reply', { agent_id, prompt: 'say two' });
  expect(next.structuredContent).toMatchObject({ agent_id, threadId, content: 'two' });
  const byThread = await proxy.call('codex-reply', { conversationId: threadId, prompt: 'say three' });
  expect(byThread.structuredContent).toMatchObject({ agent_id, content: 'three' });
});

describe('[FR-1.3] [FR-11.1] [FR-11.2] [NFR-2] the child dies', () => {
  test('[AT core/4] [C-PROXY-05] [NFR-6] in a turn by a signal: told at once and ever after, never started again', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    const died = await errorOf(proxy.call('codex-reply', { agent_id, prompt: 'say half\nkill' }));
    expect(died).toMatchObject({
      code: -32_005,
      data: {
        error_source: 'proxy',
        error_name: 'CHILD_PROCESS_DEAD',
        signal: 'SIGKILL',
        exit_code: null,
        partial_result: 'half',
      },
    });
    const again = await errorOf(proxy.call('codex', { prompt: 'say hi', identity: 'other' }));
    expect(again).toMatchObject({ code: -32_005, data: { signal: 'SIGKILL' } });
    expect((await errorOf(proxy.call('codex-reply', { agent_id, prompt: 'x' }))).code).toBe(-32_005);
    expect(proxy.received().filter((line) => 'started' in line)).toHaveLength(1);
    const { structuredContent } = await proxy.call('agent_status');
    expect(structuredContent).toMatchObject({ child: { alive: false, signal: 'SIGKILL' } });
    const registry = join(place().home, '.config/atm/agent-sessions/default/codex/registry.json');
    expect(JSON.parse(readFileSync(registry, 'utf8'))).toMatchObject({ sessions: [{ agent_id }] });
  });

  test.each([
    ['die 0', 0],
    ['half', 0],
    ['garbage\nhalf', 0],
    ['garbage\ndie 7', 7],
  ])('[C-PROXY-06] %j: told with the exit code, and the proxy lives', async (prompt, exit_code) => {
    const proxy = await start();
    const died = await errorOf(proxy.call('codex', { prompt }));
    expect(died).toMatchObject({ code: -32_005, data: { exit_code, signal: null } });
    expect(await proxy.request('ping')).toEqual({});
  });

  test('[C-PROXY-06] a line of 50 MB, garbage and a flood on stderr are skipped, and the session goes on', async () => {
    const proxy = await start();
    const prompt = `garbage\nhuge ${50 * 1_048_576}\nstderr ${8 * 1_048_576}\nsay fine`;
    const first = await proxy.call('codex', { prompt });
    expect(first.structuredContent.content).toBe('fine');
    const { agent_id } = first.structuredContent;
    expect((await proxy.call('codex-reply', { agent_id, prompt: 'say on' })).structuredContent.content).toBe(
      'on',
    );
    expect(proxy.stderr()).toContain('longer than the driver reads');
    expect(proxy.stderr()).toContain('the child wrote a line that is no message');
  });

  test('[FR-11.3] a new connection brings a new child', async () => {
    const before = await start();
    const { agent_id } = (await before.call('codex', { prompt: 'say hi' })).structuredContent;
    await errorOf(before.call('codex-reply', { agent_id, prompt: 'die 1' }));
    await before.end();
    const after = await start();
    expect((await after.call('codex', { prompt: 'say again' })).structuredContent.content).toBe('again');
  });

  test('by an exit code, with garbage before', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'garbage\nsay fine' })).structuredContent;
    const died = await errorOf(proxy.call('codex-reply', { agent_id, prompt: 'die 7' }));
    expect(died).toMatchObject({ code: -32_005, data: { exit_code: 7, signal: null } });
  });

  test('while nothing runs: told with its exit code, for every session and method', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    await errorOf(proxy.request('die/now'));
    const dead = {
      code: -32_005,
      message: expect.stringContaining('code 3'),
      data: { exit_code: 3, signal: null },
    };
    for (const call of [
      () => proxy.call('codex-reply', { agent_id, prompt: 'say on' }),
      () => proxy.call('codex', { prompt: 'say hi', identity: 'other' }),
      () => proxy.request('echo/this'),
    ])
      expect(await errorOf(call())).toMatchObject(dead);
  });

  test('there is none at all', async () => {
    const proxy = await start({ env: { CODEX_BIN: '/nowhere/codex' } });
    const { code, data, message } = await errorOf(proxy.call('codex', { prompt: 'say hi' }));
    expect([code, data['error_name']]).toEqual([-32_005, 'CHILD_PROCESS_DEAD']);
    expect(message).toContain('/nowhere/codex');
  });
});

test('[NFR-5] the log tells crashes as errors, what is stale or took too long as warnings, sessions and mail as information', async () => {
  const team = makeTeam(place());
  const lines = (proxy: ProxyClient) =>
    proxy
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string });
  const said = (proxy: ProxyClient, level: string, msg: string) => (): boolean =>
    lines(proxy).some((line) => line.level === level && line.msg.includes(msg));
  const proxy = await start({ args: ['--timeout', '2'] });
  await proxy.request('echo/wake');
  const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  await until(said(proxy, 'info', 'a session was opened'));
  team.deliver('codex', { text: 'say hi' });
  await until(said(proxy, 'info', 'mail was delivered'));
  await errorOf(proxy.call('codex-reply', { agent_id, prompt: 'wait' }));
  await until(said(proxy, 'warn', 'a turn took too long'));
  await errorOf(proxy.request('mute/this'));
  await until(said(proxy, 'warn', 'a request to Codex took too long'));
  await proxy.kill('SIGKILL');

  const after = await start();
  await until(said(after, 'warn', 'a session is stale'));
  await after.call('codex', { agent_id, prompt: 'say on' });
  await after.call('agent_close', { agent_id });
  await until(said(after, 'info', 'a session was closed'));
  expect(lines(after).filter(({ level }) => level === 'error')).toEqual([]);
  await errorOf(after.request('die/now'));
  await until(said(after, 'error', 'the Codex process ended'));
  await after.end();

  const last = await start();
  await last.request('echo/wake');
  await last.end();
  expect(said(last, 'info', 'the Codex process ended')()).toBe(true);
});

describe('[FR-14.1] [FR-14.2] [FR-14.3] a turn that takes too long', () => {
  test('[AT core/5] [C-PROXY-07] [NFR-6] is interrupted and told with what it had said; the session goes on', async () => {
    const proxy = await start({ args: ['--timeout', '2'] });
    // The time of a turn begins before the child's.
    await proxy.request('echo/wake');
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    const late = await errorOf(proxy.call('codex-reply', { agent_id, prompt: 'say half\nwait' }));
    expect(late).toMatchObject({
      code: -32_006,
      data: { error_name: 'REQUEST_TIMEOUT', agent_id, partial_result: 'half', timeout_secs: 2 },
    });
    expect(proxy.received().map((line) => line['method'])).toContain('notifications/cancelled');
    expect(
      (await proxy.call('codex-reply', { agent_id, prompt: 'say again' })).structuredContent.content,
    ).toBe('again');
  });

  test('[C-PROXY-07] also when the child does not listen; its late answer goes nowhere', async () => {
    const proxy = await start({ args: ['--timeout', '2'] });
    // The time of a turn begins before the child's.
    await proxy.request('echo/wake');
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    expect((await errorOf(proxy.call('codex-reply', { agent_id, prompt: 'deaf 4500\nsay late' }))).code).toBe(
      -32_006,
    );
    await until(() => proxy.heard.some(({ params }) => JSON.stringify(params).includes('late')));
    const next = await proxy.call('codex-reply', { agent_id, prompt: 'say next' });
    expect(next.structuredContent.content).toBe('next');
  });
});

test('[PROXY-X5] a cancelled request is answered, and the session goes on', async () => {
  const proxy = await start();
  const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  const requestId = proxy.nextId();
  const turn = proxy.call('codex-reply', { agent_id, prompt: 'say half\nwait' });
  await until(() => proxy.heard.some(({ params }) => JSON.stringify(params).includes('half')));
  proxy.send({ method: 'notifications/cancelled', params: { requestId } });
  expect(await turn).toMatchObject({
    isError: true,
    content: [{ text: 'half\n\nThe turn was cancelled.' }, {}],
  });
  expect((await proxy.call('codex-reply', { agent_id, prompt: 'say on' })).isError).toBeUndefined();
});

test('[C-PROXY-37] a failure of the child is a result that says so', async () => {
  const proxy = await start();
  const answer = await proxy.call('codex', { prompt: 'fail out of tokens' });
  expect(answer).toMatchObject({ isError: true, structuredContent: { agent_id: expect.any(String) } });
  expect(answer.content[0]?.text).toContain('out of tokens');
});

describe('[PROXY-X5] methods on which the child falls silent are answered by the proxy', () => {
  test('[PROXY-X5] lists are empty, settings are taken', async () => {
    const proxy = await start();
    for (const [method, result] of Object.entries({
      'resources/list': { resources: [] },
      'resources/templates/list': { resourceTemplates: [] },
      'prompts/list': { prompts: [] },
      'logging/setLevel': {},
      ping: {},
    }))
      expect(await proxy.request(method), method).toEqual(result);
    expect(proxy.received()).toEqual([]);
  });

  test('[PROXY-X5] all else of resources, prompts and completions is -32601, as there is nothing of the kind', async () => {
    const proxy = await start();
    for (const method of [
      'resources/read',
      'resources/subscribe',
      'resources/unsubscribe',
      'prompts/get',
      'completion/complete',
    ])
      expect((await errorOf(proxy.request(method, { uri: 'a:b' }))).code, method).toBe(-32_601);
    expect(proxy.received()).toEqual([]);
  });

  test("[C-PROXY-44] a newer client's probe is -32601, and nothing is started for it", async () => {
    const proxy = await start();
    expect((await errorOf(proxy.request('server/discover'))).code).toBe(-32_601);
    expect(proxy.received()).toEqual([]);
    const init = await proxy.request('initialize', { protocolVersion: '2026-07-28', capabilities: {} });
    expect(init['protocolVersion']).toBe('2025-11-25');
  });
});

test('[FR-4.1] [FR-15.1] [FR-16.4] [FR-17.3] [FR-15.2] [C-PROXY-04] the tools and their arguments', async () => {
  const { tools } = (await (await start()).request('tools/list')) as {
    tools: { name: string; inputSchema: { properties: object; required?: string[] } }[];
  };
  expect(tools.map(({ name }) => name)).toEqual([
    'codex',
    'codex-reply',
    'agent_sessions',
    'agent_status',
    'agent_close',
    'atm_send',
    'atm_read',
    'atm_broadcast',
    'atm_pending_count',
  ]);
  const codex = tools[0]?.inputSchema;
  expect(codex?.properties).toMatchObject({
    identity: { type: 'string' },
    prompt: { type: 'string' },
    agent_file: { type: 'string' },
    agent_id: { type: 'string' },
    role: { type: 'string' },
    cwd: { type: 'string' },
  });
  expect(codex?.required ?? []).toEqual([]);
});

test('[C-PROXY-28] [FR-1.3] [FR-7.4] when the client goes, all ends as by SIGTERM: summary, registry, child', async () => {
  const proxy = await start();
  const { threadId } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  const pid = proxy.received().find((line) => 'started' in line)?.['started'] as number;
  expect(isAlive(pid)).toBe(true);
  expect(await proxy.end()).toBe(0);
  expect(isAlive(pid)).toBe(false);
  const folder = join(place().home, '.config/atm/agent-sessions/default/codex');
  expect(readFileSync(join(folder, threadId, 'summary.md'), 'utf8')).toContain('what was done');
  expect(JSON.parse(readFileSync(join(folder, 'registry.json'), 'utf8'))).toMatchObject({
    sessions: [{ backend_id: threadId, status: 'closed' }],
  });
});

test('[PROXY-X8] [AT shutdown/2] SIGKILL of the proxy ends a child that is stuck, and what that has started', async () => {
  const proxy = await start();
  const stuck = proxy.call('codex', { prompt: 'say begun\ncling\nwait' }).catch(() => {});
  const { grandchild } = (await until(() => proxy.received().find((line) => 'grandchild' in line))) as {
    grandchild: number;
  };
  const child = proxy.received().find((line) => 'started' in line)?.['started'] as number;
  expect([child, grandchild].map(isAlive)).toEqual([true, true]);
  const folder = join(place().home, '.config/atm/agent-sessions/default/codex');
  await until(() => existsSync(join(folder, 'registry.json')));
  await proxy.kill('SIGKILL');
  await stuck;
  await until(() => !isAlive(child) && !isAlive(grandchild));
  const after = await start();
  const { sessions } = (await after.call('agent_sessions')).structuredContent as unknown as {
    sessions: Record<string, unknown>[];
  };
  expect(sessions).toMatchObject([{ status: 'stale', resumable: true }]);
  expect(readdirSync(folder).filter((name) => !name.endsWith('.tmp'))).toEqual(['registry.json']);
});

test('[PROXY-X8] the end of the client ends a stuck child too', async () => {
  const proxy = await start({ args: ['--set', 'summary_timeout_secs=0.5'] });
  void proxy.call('codex', { prompt: 'cling\nwait' }).catch(() => {});
  const { grandchild } = (await until(() => proxy.received().find((line) => 'grandchild' in line))) as {
    grandchild: number;
  };
  expect(await proxy.end()).toBe(0);
  await until(() => !isAlive(grandchild));
});
