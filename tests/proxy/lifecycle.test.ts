import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

type Row = Record<string, unknown>;

async function rows(proxy: ProxyClient): Promise<Row[]> {
  return ((await proxy.call('agent_sessions')).structuredContent as unknown as { sessions: Row[] }).sessions;
}

const statusOf = async (proxy: ProxyClient): Promise<unknown> => (await rows(proxy))[0]?.['status'];
const prompts = (proxy: ProxyClient): string[] =>
  proxy
    .received()
    .filter(({ method }) => method === 'tools/call')
    .map(({ params }) => (params as { arguments: { prompt: string } }).arguments.prompt);
const isRunning = (proxy: ProxyClient, count: number) => () => prompts(proxy).length >= count;

describe('states', () => {
  test('[FR-17.1] [FR-17.2] [FR-17.5] [AT lifecycle/1] [AT lifecycle/2] [AT lifecycle/6] busy during a turn, idle after it, in the list and in the status', async () => {
    const proxy = await start();
    const first = proxy.call('codex', { prompt: 'wait 600\nsay hi' });
    await until(isRunning(proxy, 1));
    expect(await statusOf(proxy)).toBe('busy');
    expect((await proxy.call('agent_status')).structuredContent['identities']).toMatchObject([
      { identity: 'codex', status: 'busy' },
    ]);
    const { agent_id } = (await first).structuredContent;
    expect(await statusOf(proxy)).toBe('idle');
    expect((await proxy.call('agent_status')).structuredContent['identities']).toEqual([
      { identity: 'codex', agent_id, status: 'idle' },
    ]);
    const reply = proxy.call('codex-reply', { agent_id, prompt: 'wait 600\nsay hi' });
    await until(isRunning(proxy, 2));
    expect(await statusOf(proxy)).toBe('busy');
    await reply;
    expect(await statusOf(proxy)).toBe('idle');
  });

  test('[FR-8.9] turns of one session queue up in order, those of two run side by side', async () => {
    const proxy = await start();
    const a = (await proxy.call('codex', { prompt: 'say hi', identity: 'a' })).structuredContent.agent_id;
    const b = (await proxy.call('codex', { prompt: 'say hi', identity: 'b' })).structuredContent.agent_id;
    const order: string[] = [];
    const turn = (agent_id: string, prompt: string, name: string) =>
      proxy.call('codex-reply', { agent_id, prompt }).then(() => order.push(name));
    await Promise.all([
      turn(a, 'wait 700\nsay 1', 'a1'),
      turn(a, 'say 2', 'a2'),
      turn(a, 'say 3', 'a3'),
      turn(b, 'say 1', 'b1'),
    ]);
    expect(order).toEqual(['b1', 'a1', 'a2', 'a3']);
  });
});

describe('[FR-17.3] [FR-17.10] closing', () => {
  test('[C-PROXY-20] [AT lifecycle/3] [AT lifecycle/5] [FR-17.9] [FR-17.1] [FR-17.2] [AT lifecycle/6] idle: at once, and again is a success', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    const closed = await proxy.call('agent_close', { agent_id });
    expect(closed.structuredContent).toMatchObject({ agent_id, status: 'closed', summary: null });
    expect(await statusOf(proxy)).toBe('closed');
    expect((await proxy.call('agent_status')).structuredContent['identities']).toEqual([]);
    expect((await proxy.call('agent_close', { agent_id })).structuredContent['status']).toBe('closed');
    expect((await proxy.call('agent_close', { identity: 'codex' })).isError).toBeUndefined();
    expect((await errorOf(proxy.call('codex-reply', { agent_id, prompt: 'x' }))).code).toBe(-32_003);
    expect(prompts(proxy)).toHaveLength(1);
    await proxy.call('codex', { prompt: 'say hi', identity: 'dev' });
    const byName = await proxy.call('agent_close', { identity: 'dev' });
    expect(byName.structuredContent).toMatchObject({ status: 'closed', summary: null });
    expect((await proxy.call('agent_status')).structuredContent['identities']).toEqual([]);
  });

  test('[C-PROXY-20] [AT lifecycle/4] [FR-17.4] [C-PROXY-12] [FR-17.1] [FR-17.2] [NFR-6] busy: interrupted, summed up, and whoever waits is told', async () => {
    const proxy = await start();
    const { agent_id, threadId } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    const running = errorOf(proxy.call('codex-reply', { agent_id, prompt: 'say half\nwait' }));
    const queued = errorOf(proxy.call('codex-reply', { agent_id, prompt: 'say never' }));
    await until(() => proxy.heard.some(({ params }) => JSON.stringify(params).includes('half')));
    const closed = await proxy.call('agent_close', { agent_id });
    expect(closed.structuredContent).toMatchObject({ status: 'closed', summary: 'what was done so far' });
    expect(await queued).toMatchObject({ code: -32_003, data: { error_name: 'SESSION_CLOSED' } });
    expect(await running).toMatchObject({ code: -32_003, data: { partial_result: 'half' } });
    expect(prompts(proxy).join()).not.toContain('never');
    const summary = join(place().home, '.config/atm/agent-sessions/default/codex', threadId, 'summary.md');
    expect(readFileSync(summary, 'utf8')).toBe('what was done so far\n');
  });

  test('[C-PROXY-21] when the summary hangs it is closed as interrupted, and the identity is free', async () => {
    const proxy = await start({
      env: { SCRIPT_SUMMARY: 'never' },
      args: ['--set', 'summary_timeout_secs=1.5'],
    });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    const running = errorOf(proxy.call('codex-reply', { agent_id, prompt: 'wait' }));
    await until(isRunning(proxy, 2));
    const closed = await proxy.call('agent_close', { agent_id });
    expect(closed.structuredContent).toMatchObject({ status: 'interrupted', summary: null });
    expect((await running).code).toBe(-32_003);
    expect((await proxy.call('codex', { prompt: 'say hi' })).isError).toBeUndefined();
  });

  test('[C-PROXY-20] [NFR-6] [C-PROXY-12] who is unknown, or not named, is an error', async () => {
    const proxy = await start();
    expect((await errorOf(proxy.call('agent_close', {}))).code).toBe(-32_602);
    expect((await errorOf(proxy.call('agent_close', { agent_id: 'codex:x' }))).code).toBe(-32_002);
    expect((await errorOf(proxy.call('agent_close', { identity: 'nobody' }))).code).toBe(-32_002);
    expect((await errorOf(proxy.call('codex-reply', { agent_id: 'codex:x', prompt: 'x' }))).code).toBe(
      -32_002,
    );
  });
});

describe('resuming', () => {
  test('[FR-17.7] [FR-16.3] [AT lifecycle/8] [AT initialization/5] [AT initialization/6] [FR-17.2] [C-PROXY-13] [C-PROXY-22] by a reply on its thread, with the identity, the folder and the summary; without a prompt it is told to go on', async () => {
    const proxy = await start();
    const { agent_id, threadId } = (
      await proxy.call('codex', { prompt: 'say hi', identity: 'arch', cwd: '..' })
    ).structuredContent;
    const running = errorOf(proxy.call('codex-reply', { agent_id, prompt: 'wait' }));
    await until(isRunning(proxy, 2));
    await proxy.call('agent_close', { agent_id });
    await running;
    const before = prompts(proxy).length;
    const resumed = proxy.call('codex', { agent_id, prompt: 'wait 600\necho' });
    await until(isRunning(proxy, before + 1));
    expect(await statusOf(proxy)).toBe('busy');
    const again = await resumed;
    expect(again.structuredContent).toMatchObject({ agent_id, threadId, identity: 'arch' });
    const { prompt } = JSON.parse(again.structuredContent.content) as { prompt: string };
    expect(prompt).toContain('what was done so far');
    expect(prompt.indexOf('what was done so far')).toBeLessThan(prompt.indexOf('wait 600'));
    expect(prompt).toContain('identity: "arch"');
    expect(prompt).toContain(`cwd: ${JSON.stringify(place().root)}`);
    expect(proxy.received().at(-1)).toMatchObject({ params: { name: 'codex-reply' } });
    expect(await statusOf(proxy)).toBe('idle');
    await proxy.call('agent_close', { agent_id });
    await proxy.call('codex', { agent_id });
    expect(prompts(proxy).at(-1)).toContain('Continue where you left off.');
  });

  test('[AT initialization/7] without a summary it goes on all the same', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    await proxy.call('agent_close', { agent_id });
    const again = await proxy.call('codex', { agent_id, prompt: 'say back' });
    expect(again.structuredContent).toMatchObject({ agent_id, content: 'back' });
  });

  test('[C-PROXY-22] when its identity was taken meanwhile that is a conflict', async () => {
    const proxy = await start();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    await proxy.call('agent_close', { agent_id });
    const taker = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent.agent_id;
    expect(await errorOf(proxy.call('codex', { agent_id, prompt: 'x' }))).toMatchObject({
      code: -32_001,
      data: { conflicting_agent_id: taker },
    });
  });

  test('[C-PROXY-18] when its folder is gone that is told', async () => {
    const proxy = await start();
    const cwd = join(place().work, 'short-lived');
    mkdirSync(cwd);
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', cwd })).structuredContent;
    await proxy.call('agent_close', { agent_id });
    rmSync(cwd, { recursive: true });
    const gone = await errorOf(proxy.call('codex', { agent_id, prompt: 'x' }));
    expect([gone.code, gone.data['cwd']]).toEqual([-32_007, cwd]);
  });
});

describe('[FR-5.1] [FR-5.2] the registry', () => {
  test('[FR-5.3] [AT registry/1] [AT registry/3] [AT registry/5] [AT registry/6] [FR-10.1] [AT lifecycle/6] tells every session', async () => {
    const proxy = await start();
    for (const identity of ['a', 'b', 'c'])
      await proxy.call('codex', { prompt: 'say hi', identity, tag: `tag-${identity}` });
    const path = join(place().home, '.config/atm/agent-sessions/default/codex/registry.json');
    const bound = (await proxy.call('agent_status')).structuredContent['identities'] as Row[];
    const saved = await until(() => {
      const { sessions } = JSON.parse(readFileSync(path, 'utf8')) as { sessions: Row[] };
      return sessions.length === 3 && sessions.every(({ status }) => status === 'idle') && sessions;
    });
    expect(saved.map(({ agent_id, identity, status }) => ({ identity, agent_id, status }))).toEqual(bound);
    expect(Object.keys(saved[0] ?? {})).toEqual(
      expect.arrayContaining(
        'agent_id backend_id identity team repo_root repo_name branch cwd started_at last_active status tag'.split(
          ' ',
        ),
      ),
    );
    expect(saved[0]).toMatchObject({ team: 'default', cwd: place().work, repo_root: null, tag: 'tag-a' });
    const [newest] = await rows(proxy);
    expect(newest).toMatchObject({
      agent_id: bound[2]?.['agent_id'],
      backend: 'codex',
      backend_id: saved[2]?.['backend_id'],
      team: 'default',
      identity: 'c',
      agent_name: null,
      agent_source: null,
      status: 'idle',
      last_active_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown,
      tag: 'tag-c',
      resumable: false,
    });
    expect(
      (await rows(proxy)).map(({ identity, status, resumable }) => [identity, status, resumable]),
    ).toEqual([
      ['c', 'idle', false],
      ['b', 'idle', false],
      ['a', 'idle', false],
    ]);
  });

  test('[AT registry/2] [FR-3.2] [FR-10.1] after a restart the sessions are listed, as stale', async () => {
    const before = await start();
    const { agent_id, threadId } = (await before.call('codex', { prompt: 'say hi' })).structuredContent;
    await before.kill('SIGKILL');
    const after = await start();
    expect(await rows(after)).toMatchObject([{ agent_id, status: 'stale', resumable: true }]);
    // This backend cannot load a thread of another process: the session goes on in a new one.
    const reply = (await after.call('codex-reply', { agent_id, prompt: 'say hi' })).structuredContent;
    expect(reply).toMatchObject({ agent_id, content: 'hi' });
    expect(reply.threadId).not.toBe(threadId);
    expect(after.stderr()).toContain('goes on in a new one');
    expect(await rows(after)).toMatchObject([{ agent_id, backend_id: reply.threadId, status: 'idle' }]);
  });
});

test('[AT shutdown/1] [FR-6.4] [FR-7.1] [FR-7.3] [FR-17.2] SIGTERM asks every session for a summary, and keeps it', async () => {
  const proxy = await start();
  const { threadId } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' })).structuredContent;
  expect(await proxy.kill('SIGTERM')).toBe(0);
  const folder = join(place().home, '.config/atm/agent-sessions/default');
  expect(readFileSync(join(folder, 'arch', threadId, 'summary.md'), 'utf8')).toContain('what was done');
  const { sessions } = JSON.parse(readFileSync(join(folder, 'codex/registry.json'), 'utf8')) as {
    sessions: Row[];
  };
  expect(sessions).toMatchObject([{ identity: 'arch', status: 'closed' }]);
});

test('[FR-7.2] [C-PROXY-29] SIGTERM with five busy sessions that do not sum up: all interrupted, in bounded time, no child left', async () => {
  const proxy = await start({ env: { SCRIPT_SUMMARY: 'never' }, args: ['--set', 'summary_timeout_secs=2'] });
  const calls = ['a', 'b', 'c', 'd', 'e'].map((identity) =>
    proxy.call('codex', { prompt: 'say hi\nwait', identity }),
  );
  const ends = Promise.allSettled(calls);
  await until(() => proxy.heard.filter(({ params }) => JSON.stringify(params).includes('"hi"')).length >= 5);
  const pid = proxy.received().find((line) => 'started' in line)?.['started'] as number;
  expect(await proxy.kill('SIGTERM')).toBe(0);
  for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: -32_003 } });
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  const path = join(place().home, '.config/atm/agent-sessions/default/codex/registry.json');
  const { sessions } = JSON.parse(readFileSync(path, 'utf8')) as { sessions: Row[] };
  expect(sessions.map(({ status }) => status)).toEqual(Array(5).fill('interrupted'));
});

test('a session that was just closed can be taken up at once', async () => {
  const proxy = await start();
  const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  for (const word of ['one', 'two', 'three']) {
    await proxy.call('agent_close', { agent_id });
    expect((await proxy.call('codex', { agent_id, prompt: `say ${word}` })).structuredContent.content).toBe(
      word,
    );
  }
});
