import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { beforeEach, describe, expect, test, vi } from 'vitest';

import { issueToken } from '../harness/tokens.ts';
import { eventually, type HubScene, useHubScene } from './hub-scene.ts';
import { errorOf, until } from './proxy-client.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

/** How long the hub may take to hear all of a session. */
const PATIENCE_MS = 20_000;

const { place, start } = useProxies();
const current = useHubScene();
let scene: HubScene;
beforeEach(() => {
  scene = current();
});

const proxyOf = (args: string[] = []) => start({ env: scene.env, args });
const linked = (proxy: Awaited<ReturnType<typeof proxyOf>>) =>
  until(() => proxy.stderr().includes('linked to the hub'));
const answersOfChild = (proxy: Awaited<ReturnType<typeof proxyOf>>) =>
  proxy.received().filter(({ id, result }) => typeof id === 'number' && result !== undefined);
const cancelled = (proxy: Awaited<ReturnType<typeof proxyOf>>) =>
  proxy.heard
    .filter(({ method }) => method === 'notifications/cancelled')
    .map(({ params }) => params['requestId']);

describe('a session at the hub', () => {
  test('stands in the registry with its state as it changes, and its turns in the journal', async () => {
    const proxy = await proxyOf();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hello', identity: 'arch', tag: 'mine' }))
      .structuredContent;
    // It is there from its first call on, and tells the rest in those that follow.
    await vi.waitFor(async () => {
      expect(await scene.seen('arch', 'idle')).toMatchObject({
        capabilities: ['prompt', 'cancel', 'status'],
        runtimes: ['codex'],
        metadata: { session: agent_id, team: 'default', tag: 'mine' },
      });
    }, PATIENCE_MS);
    const requestId = proxy.nextId();
    const turn = proxy.call('codex-reply', { agent_id, prompt: 'say half\nwait' });
    await scene.seen('arch', 'working', /^say half$/);
    proxy.send({ method: 'notifications/cancelled', params: { requestId } });
    await turn;
    await scene.seen('arch', 'idle');
    await proxy.call('codex-reply', { agent_id, prompt: 'fail no more money' });
    expect(await scene.seen('arch', 'error')).toMatchObject({ reason: 'no more money' });
    await proxy.call('agent_close', { agent_id });
    const { failure } = await scene.person.get_agent({ of_agent: 'arch' });
    await scene.person.dismiss_error({ of_agent: 'arch', failed_at: failure?.at ?? '' });
    expect(await scene.seen('arch', 'offline')).toMatchObject({ reason: 'process gone' });
    await proxy.call('codex', { prompt: 'say fine again', identity: 'arch' });
    await scene.seen('arch', 'idle');
    await proxy.call('agent_close', { identity: 'arch' });
    await scene.seen('arch', 'offline');
    const reported = (await scene.journal('arch')).map(({ body, metadata }) => [
      metadata['event_type'],
      body,
    ]);
    expect(reported.filter(([type]) => String(type).startsWith('task_'))).toEqual([
      ['task_started', 'say hello'],
      ['task_completed', 'hello'],
      ['task_started', 'say half'],
      ['task_completed', 'half'],
      ['task_started', 'fail no more money'],
      ['task_failed', 'no more money'],
      ['task_started', 'say fine again'],
      ['task_completed', 'fine again'],
    ]);
    const ended = (await scene.journal('arch')).filter(
      ({ metadata }) => metadata['event_type'] === 'task_completed',
    );
    expect(ended.map(({ metadata }) => metadata['data'])).toMatchObject([
      { status: 'completed', duration_ms: expect.any(Number) },
      { status: 'cancelled' },
      { status: 'completed' },
    ]);
  });

  test('two identities are two agents, each under a token of its own; the end of the proxy takes both away', async () => {
    const proxy = await proxyOf();
    await Promise.all(['a', 'b'].map((identity) => proxy.call('codex', { prompt: 'say hi', identity })));
    await Promise.all([scene.seen('a', 'idle'), scene.seen('b', 'idle')]);
    expect(await proxy.end()).toBe(0);
    await Promise.all([scene.seen('a', 'offline'), scene.seen('b', 'offline')]);
  });

  test('the death of Codex is an error that says so', async () => {
    const proxy = await proxyOf();
    await proxy.call('codex', { prompt: 'say hi', identity: 'a' });
    await scene.seen('a', 'idle');
    await errorOf(proxy.call('codex', { prompt: 'kill', identity: 'b' }));
    await scene.seen('a', 'error', /Codex process is gone/);
  });

  test('takes commands of a person: a prompt in its place in the queue, status, cancel', async () => {
    const proxy = await proxyOf();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' }))
      .structuredContent;
    await scene.seen('arch', 'idle');
    const command = (name: string, parameters = {}) =>
      scene.person.command_agent({ of_agent: 'arch', command: name, parameters });
    await eventually(async () => (await scene.person.get_agent({ of_agent: 'arch' })).connected.length > 0);
    expect(await command('status')).toMatchObject({ success: true, result: { agent_id, status: 'idle' } });
    const waiting = proxy.call('codex-reply', { agent_id, prompt: 'say half\nwait' });
    await scene.seen('arch', 'working');
    expect(await command('prompt', { prompt: 'say from ann' })).toMatchObject({
      result: { accepted: true, queued: true },
    });
    expect(await command('cancel')).toMatchObject({ result: { cancelled: true } });
    expect(await waiting).toMatchObject({ isError: true });
    await eventually(async () => (await scene.journal('arch')).some(({ body }) => body === 'from ann'));
    expect(await command('prompt', { prompt: '' })).toMatchObject({ error: { code: 'INVALID_COMMAND' } });
  });
});

test('mail that is held stands in the journal of its session', async () => {
  const team = makeTeam(place(), 'default', ['alice']);
  const proxy = await proxyOf(['--set', 'mail_turns_per_pair=1']);
  const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' })).structuredContent;
  await linked(proxy);
  const reported = async () =>
    (await scene.journal('arch')).filter(({ metadata }) => metadata['event_type'] === 'warning');
  team.deliver('arch', { text: 'one' });
  await until(() => team.unread('arch').length === 0);
  team.deliver('arch', { text: 'two' });
  await eventually(async () => (await reported()).length === 1);
  expect(await reported()).toMatchObject([
    {
      body: expect.stringMatching(/^mail of alice to arch is held: it started 1 turns within an hour/),
      metadata: { data: { from: 'alice', reason: 'pair', limit: 1, held: 1 } },
    },
  ]);
  // A turn from the hub is a person's, and lifts it.
  await scene.person.command_agent({
    of_agent: 'arch',
    command: 'prompt',
    parameters: { prompt: 'say go on' },
  });
  await until(() => team.unread('arch').length === 0);
  expect((await proxy.call('agent_status')).structuredContent).toMatchObject({ mail_held: [] });
  expect(agent_id).toMatch(/^codex:/);
});

describe('an approval', () => {
  const asking = async (args: string[] = []) => {
    const proxy = await proxyOf(args);
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' }))
      .structuredContent;
    await scene.seen('arch', 'idle');
    await linked(proxy);
    const turn = proxy.call('codex-reply', { agent_id, prompt: 'ask make' });
    await until(() => proxy.asked.length === 1);
    return { proxy, turn, question: proxy.asked[0]?.id };
  };

  test('answered at the hub runs the command, and the client is told that it is settled', async () => {
    const { proxy, turn, question } = await asking();
    const ask = await scene.ask();
    expect(ask).toMatchObject({ kind: 'approval', agent_id: 'arch', command: 'make', cwd: '/' });
    await scene.seen('arch', 'needs_you', /asks to run: make/);
    await scene.person.answer_ask({ ask_id: ask.ask_id, decision: 'approved', scope: 'session' });
    expect((await turn).structuredContent.content).toContain('approved_for_session');
    await until(() => cancelled(proxy).includes(question));
    expect((await scene.settled(ask.ask_id)).verdict).toMatchObject({ decision: 'approved', by: 'ann' });
    proxy.send({ id: question, result: { action: 'decline' } });
    await proxy.request('ping');
    expect(answersOfChild(proxy)).toHaveLength(1);
    await scene.seen('arch', 'idle');
  });

  test("a person's no reaches Codex with its reason", async () => {
    const { turn } = await asking();
    const { ask_id } = await scene.ask();
    await scene.person.answer_ask({ ask_id, decision: 'denied', reason: 'not on a Friday' });
    expect((await turn).structuredContent.content).toContain('not on a Friday');
  });

  test('answered by the client closes the ask at the hub', async () => {
    const { proxy, turn, question } = await asking();
    const { ask_id } = await scene.ask();
    proxy.send({ id: question, result: { action: 'accept', content: {} } });
    expect((await turn).structuredContent.content).toContain('approved');
    expect((await scene.settled(ask_id)).verdict).toMatchObject({
      decision: 'withdrawn',
      reason: 'answered elsewhere',
    });
    await scene.seen('arch', 'idle');
    expect(cancelled(proxy)).toEqual([]);
  });

  test('answered on both sides at the same moment has one answer for Codex, and the record tells which', async () => {
    const { proxy, turn, question } = await asking();
    const { ask_id } = await scene.ask();
    const answered = scene.person
      .answer_ask({ ask_id, decision: 'denied', reason: 'no by ann' })
      .catch(() => {});
    proxy.send({ id: question, result: { action: 'accept', content: {} } });
    const { content } = (await turn).structuredContent;
    await answered;
    expect(answersOfChild(proxy)).toHaveLength(1);
    const { verdict } = await scene.settled(ask_id);
    if (content.includes('no by ann')) expect(verdict).toMatchObject({ decision: 'denied', by: 'ann' });
    else if (verdict?.decision === 'denied')
      await eventually(async () =>
        (await scene.journal('arch')).some(({ body }) => body.startsWith('"denied" by ann came too late')),
      );
    else expect(verdict).toMatchObject({ decision: 'withdrawn' });
  });

  test('a client with nobody there leaves it to the person at the hub', async () => {
    const { proxy, turn, question } = await asking();
    proxy.send({ id: question, result: { action: 'cancel' } });
    const { ask_id } = await scene.ask();
    await scene.person.answer_ask({ ask_id, decision: 'approved' });
    expect((await turn).structuredContent.content).toContain('approved');
  });

  test('that nobody answers ends on both sides', async () => {
    const { turn } = await asking(['--set', 'approval_timeout_secs=2']);
    expect((await turn).structuredContent.content).toContain('denied');
    const { ask_id } = await eventually(
      async () => (await scene.person.list_asks({ status: 'all' })).asks[0],
    );
    expect((await scene.settled(ask_id)).verdict?.decision).toMatch(/withdrawn|denied/);
  });
});

describe('the hub goes and comes', () => {
  test('killed and started again in a turn: the client misses nothing, and the link comes back', async () => {
    const proxy = await proxyOf();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' }))
      .structuredContent;
    await linked(proxy);
    const turn = proxy.call('codex-reply', { agent_id, prompt: 'ask one\nask two\nsay through' });
    const { ask_id } = await scene.ask();
    await scene.kill();
    await until(() => proxy.asked.length === 1);
    proxy.send({ id: proxy.asked[0]?.id, result: { action: 'accept' } });
    await until(() => proxy.asked.length === 2);
    await scene.start();
    const second = await eventually(async () =>
      (await scene.person.list_asks()).asks.find((ask) => ask.command === 'two'),
    );
    expect((await scene.settled(ask_id)).verdict).toMatchObject({ decision: 'withdrawn' });
    await scene.seen('arch', 'needs_you');
    await scene.kill();
    await scene.start();
    await scene.person.answer_ask({ ask_id: second.ask_id, decision: 'approved' });
    expect((await turn).structuredContent.content).toBe('through');
    await scene.seen('arch', 'idle');
    await eventually(async () =>
      (await scene.person.get_agent({ of_agent: 'arch' })).connected.includes('ws'),
    );
    const lines = proxy.stderr().split('\n');
    expect(lines.filter((line) => line.includes('the hub is away')).length).toBeLessThanOrEqual(2);
  });

  test('none there: everything works, one line says so; one that starts later hears what was, within bounds', async () => {
    await scene.kill();
    const proxy = await proxyOf();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' }))
      .structuredContent;
    for (let n = 0; n < 120; n++) await proxy.call('codex-reply', { agent_id, prompt: `say number ${n}` });
    const said = proxy
      .stderr()
      .split('\n')
      .filter((line) => line.includes('hub'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('not linked to a hub');
    await scene.start();
    await scene.seen('arch', 'idle');
    const bodies = await eventually(async () => {
      const reported = (await scene.journal('arch')).map(({ body }) => body);
      return reported.at(-1) === 'number 119' && reported;
    });
    expect(bodies).toContain('42 events were lost while the hub was away');
    await scene.seen('arch', 'idle');
  });

  test('who takes the port of a dead hub hears nothing', async () => {
    const proxy = await proxyOf();
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' }))
      .structuredContent;
    // Only a link that stood can be lost.
    await linked(proxy);
    const { port } = new URL(scene.hub.url);
    await scene.kill();
    let heard = 0;
    const stranger = createServer((_request, response) => {
      heard += 1;
      response.end('{}');
    }).on('connection', () => (heard += 1));
    stranger.listen(Number(port), '127.0.0.1');
    await once(stranger, 'listening');
    try {
      const turn = proxy.call('codex-reply', { agent_id, prompt: 'ask make\nsay done' });
      await until(() => proxy.asked.length === 1);
      await until(() => proxy.stderr().includes('the hub is away'));
      proxy.send({ id: proxy.asked[0]?.id, result: { action: 'accept' } });
      await turn;
      expect(await proxy.end()).toBe(0);
      expect(heard).toBe(0);
    } finally {
      stranger.close();
    }
  });

  test('it can be turned off', async () => {
    const proxy = await proxyOf(['--set', 'hub_enabled=false']);
    await proxy.call('codex', { prompt: 'say hi' });
    expect(proxy.stderr()).not.toContain('hub');
    expect((await scene.person.list_agents()).agents.map(({ agent_id }) => agent_id)).not.toContain('codex');
  });
});

describe('the right to speak at a hub', () => {
  const far = (): string => `far-from-${scene.workspace}`;
  const byFile = async (identity: string, mode = 0o600) => {
    const { token } = await issueToken({ agent: 'arch', workspace: far() }, { data: scene.data });
    const file = join(place().root, `${identity}.token`);
    writeFileSync(file, token);
    chmodSync(file, mode);
    const proxy = await start({
      env: { PARLEY_URL: scene.hub.url, PARLEY_TOKEN_FILE: join(place().root, '{identity}.token') },
    });
    await proxy.call('codex', { prompt: 'say hi', identity });
    return proxy;
  };
  const inFar = async () => {
    const { token } = await issueToken(
      { agent: 'ann', workspace: far(), role: 'operator' },
      { data: scene.data },
    );
    const answer = await fetch(`${scene.hub.url}/v1/agents`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await answer.json()) as { agents: { agent_id: string }[] }).agents.map(
      ({ agent_id }) => agent_id,
    );
  };

  test('comes from a file of its own for each identity, and the workspace from the token', async () => {
    await byFile('arch');
    await eventually(async () => (await inFar()).includes('arch'));
  });

  test("is not lent: another agent's token, or one that others can read, is not used", async () => {
    const other = await byFile('b');
    await until(() => other.stderr().includes("is not for the agent 'b'"));
    await other.end();
    const open = await byFile('arch', 0o644);
    await until(() => open.stderr().includes('others can read'));
    expect(await inFar()).toEqual([]);
    expect(other.stderr()).not.toContain('eyJ');
  });

  test('is not for a repository to give', async () => {
    writeFileSync(
      join(place().work, '.atm.toml'),
      `[plugins.atm-agent-mcp.hub]\nurl = "http://127.0.0.1:1"\ntoken_file = "/etc/passwd"\n`,
    );
    const proxy = await proxyOf();
    await proxy.call('codex', { prompt: 'say hi', identity: 'arch' });
    await scene.seen('arch', 'idle');
    expect(proxy.stderr()).toContain('"key":"hub_token_file"');
  });

  test('a name that the hub reserves is not linked, and said so', async () => {
    const proxy = await proxyOf();
    await proxy.call('codex', { prompt: 'say hi', identity: 'all' });
    expect(proxy.stderr()).toContain('not linked');
  });
});
