import { type Client, createClient, openAgent } from '@parley/client';
import type { Ask } from '@parley/protocol';
import { beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { issueToken, parley, parleyJson, type RunOptions, startHub, type TestHub } from './parley.ts';

let hub: TestHub;
let builder: Client;
beforeAll(async () => {
  hub = await startHub();
  builder = createClient({ url: hub.url, token: await issueToken(hub.data, 'builder') });
});

const run = (args: string[], options?: RunOptions) => parley([...args, '--data', hub.data], options);
const json = <T>(args: string[], options?: RunOptions) =>
  parleyJson<T>([...args, '--data', hub.data], options);
const asPhone = { env: { PARLEY_SESSION: 'phone' } };

const push = {
  kind: 'approval' as const,
  prompt: 'May I push?',
  command: 'git push --force-with-lease',
  cwd: '/src/mobile',
  risk: 'high' as const,
  rule: 'ask before push',
  options: [
    { id: 'once', label: 'Approve once', kind: 'allow_once' as const },
    { id: 'no', label: 'Deny', kind: 'deny' as const },
  ],
};

test('asks are listed, shown and approved by the end of their id', async () => {
  const { ask } = await builder.raise_ask(push);
  const short = ask.ask_id.slice(-6);
  expect(await json(['ask', 'ls'])).toEqual({ asks: [ask], next_before: null });
  const listed = await run(['ask', 'ls']);
  expect(listed.stdout).toMatch(
    new RegExp(`^${short}  builder  approval!  \\d+ min left  \\d+ s ago  git push --force-with-lease\\n$`),
  );
  const shown = await run(['ask', 'show', short.toLowerCase()]);
  for (const line of [
    `ask      ${ask.ask_id}`,
    'state    open, denied in 9 min',
    'agent    builder (session builder-cli)',
    'asks     May I push?',
    'command  git push --force-with-lease',
    'folder   /src/mobile',
    'options  once  Approve once',
    '         no    Deny',
  ])
    expect(shown.stdout.split('\n')).toContain(line);
  expect(shown.stdout).toMatch(/^risk {5}high \(.+\); rule: ask before push$/m);
  const approved = await json<{ ask: Ask }>(
    ['ask', 'approve', short, '--scope', 'session', '-m', 'go'],
    asPhone,
  );
  expect(approved.ask.verdict).toMatchObject({
    decision: 'approved',
    scope: 'session',
    text: 'go',
    device: 'phone',
  });
  const again = await run(['ask', 'deny', ask.ask_id, '-m', 'no']);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('the ask is settled: approved by');
  const told = await run(['ask', 'deny', ask.ask_id, '-m', 'no', '--json']);
  expect(JSON.parse(told.stdout)).toMatchObject({
    error: { code: 'CONFLICT', details: { ask: { verdict: approved.ask.verdict } } },
  });
  const settled = (await run(['ask', 'show', short])).stdout;
  expect(settled).toContain('state    answered; the agent has yet to take it');
  expect(settled).toContain('verdict  approved, for this session');
  expect(settled).toMatch(/by {7}\S+ on phone, /);
  const none = await run(['ask', 'ls']);
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'Nobody waits for you.\n' });
  expect((await run(['ask', 'ls', '--status', 'all', '--agent', 'builder'])).stdout).toContain('approved');
});

test('a denial says why, an answer says what; both reach the agent that waits', async () => {
  const asking = builder.ask_human({ prompt: 'Fix both?', options: ['Fix both', 'Open TASK-220'] });
  let open: Ask[] = [];
  await expect.poll(async () => (open = (await json<{ asks: Ask[] }>(['ask', 'ls'])).asks).length).toBe(1);
  const id = open[0]?.ask_id ?? '';
  expect(await run(['ask', 'answer', id])).toMatchObject({ code: 2 });
  const wrong = await run(['ask', 'answer', id, '--option', 'Neither']);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toContain('the agent offers no Neither');
  const done = await run(['ask', 'answer', id, 'but tonight', '--option', 'Fix both']);
  expect(done).toMatchObject({ code: 0, stdout: `${id} of builder: answered\n` });
  expect((await asking).ask.verdict).toMatchObject({
    decision: 'answered',
    option: 'Fix both',
    text: 'but tonight',
  });
  const { ask } = await builder.raise_ask(push);
  await json(['ask', 'deny', ask.ask_id, '-m', 'not on a Friday']);
  expect((await builder.wait_for_ask({ ask_id: ask.ask_id })).ask.verdict).toMatchObject({
    decision: 'denied',
    reason: 'not on a Friday',
  });
});

test('what is not there, not clear or not allowed ends with its code', async () => {
  expect(await run(['ask', 'show', 'ZZZZZZZZZ'])).toMatchObject({ code: 3 });
  expect(await run(['ask', 'show', 'ask_none'])).toMatchObject({ code: 3 });
  expect(await run(['agent', 'show', 'nobody'])).toMatchObject({ code: 3 });
  expect(await run(['agent', 'ls', '--state', 'asleep'])).toMatchObject({ code: 2 });
  const { ask } = await builder.raise_ask({ prompt: 'May I?' });
  const { ask: second } = await builder.raise_ask({ prompt: 'May I?' });
  const unclear = await run(['ask', 'show', '']);
  expect(unclear.code).toBe(2);
  expect(await run(['ask', 'approve', ask.ask_id, '--as', 'builder'])).toMatchObject({ code: 6 });
  expect(await run(['ask', 'approve', ask.ask_id, '--role', 'observer', '--as', 'eve'])).toMatchObject({
    code: 6,
  });
  expect(await run(['ask', 'show', ask.ask_id, '--as', 'stranger'])).toMatchObject({ code: 3 });
  for (const one of [ask, second]) await builder.withdraw_ask({ ask_id: one.ask_id });
});

test('agents by state, with the reason, and all of one', async () => {
  await builder.register_agent({ name: 'The builder', capabilities: ['run_task'] });
  await builder.update_agent_status({ status: 'busy', metadata: { currentTask: 'the \u001b[31mmapper' } });
  const reviewer = createClient({ url: hub.url, token: await issueToken(hub.data, 'reviewer') });
  await reviewer.heartbeat_session({ runtime: 'claude_code', status: 'idle' });
  const { stdout } = await run(['agent', 'ls']);
  expect(stdout.split('\n').map((line) => line.replaceAll(/\d+ s/g, 'N s'))).toEqual([
    'working  builder   N s  the \\u{1b}[31mmapper',
    'idle     reviewer  N s  nothing to do',
    '',
  ]);
  const { agents } = await json<{ agents: { agent_id: string }[] }>(['agent', 'ls', '--state', 'working']);
  expect(agents.map(({ agent_id }) => agent_id)).toEqual(['builder']);
  const shown = (await run(['agent', 'show', 'builder'])).stdout;
  expect(shown).toMatch(/^agent +builder, The builder$/m);
  expect(shown).toMatch(/^state +working for \d+ s$/m);
  expect(shown).toMatch(/^takes +run_task$/m);
  const none = await run(['agent', 'ls', '--state', 'stuck']);
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No agent is in the state stuck.\n' });
});

test('a command to an agent that is not connected says so', async () => {
  const ran = await run(['agent', 'command', 'reviewer', 'run_task', '--param', 'n:=1', '--timeout', '1s']);
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toContain('reviewer is not connected');
  expect(await run(['agent', 'command', 'reviewer', 'x', '--timeout', 'soon'])).toMatchObject({ code: 2 });
  expect(await run(['agent', 'command', 'reviewer', 'x', '--as', 'builder'])).toMatchObject({ code: 6 });
});

test('a command to a connected agent brings its result, or its failure as exit code 1', async () => {
  const changes: string[] = [];
  const agent = await openAgent({
    url: hub.url,
    token: await issueToken(hub.data, 'runner'),
    name: 'The runner',
    WebSocket,
    commands: { add: ({ a, b }) => Number(a) + Number(b), fail: () => Promise.reject(new Error('no disk')) },
    onConnection: (state) => changes.push(state),
  });
  await expect.poll(() => changes).toEqual(['open']);
  const done = await run(['agent', 'command', 'runner', 'add', '--param', 'a:=2', '--param', 'b=3']);
  expect(done).toMatchObject({ code: 0, stderr: '' });
  expect(done.stdout).toMatch(/^done in \d+ ms\n5\n$/);
  const failed = await run(['agent', 'command', 'runner', 'fail']);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/^failed after \d+ ms: INTERNAL_ERROR: no disk\n$/);
  expect((await run(['agent', 'show', 'runner'])).stdout).toMatch(/^connected +ws$/m);
  await agent.close();
});

test('status counts the agents by state and the open asks', async () => {
  const { ask } = await builder.raise_ask({ prompt: 'May I?' });
  expect(await json(['status'])).toMatchObject({
    agents: { needs_you: 1, idle: 1, offline: 1 },
    asks: { open: 1, complete: true },
  });
  const { stdout } = await run(['status']);
  expect(stdout).toMatch(/^agents {4}1 needs you, 1 idle, 1 offline$/m);
  expect(stdout).toMatch(/^asks {6}1 open: .*ask ls$/m);
  await builder.withdraw_ask({ ask_id: ask.ask_id });
  expect((await run(['status'])).stdout).toMatch(/^asks {6}nobody waits for you$/m);
});
