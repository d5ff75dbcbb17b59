import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
    new RegExp(
      `^${short}  builder  approval  high  \\d+ min left  \\d+ s ago  git push --force-with-lease\\n$`,
    ),
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
  expect(shown.stdout).toMatch(
    /^risk {5}high: it overwrites a branch on its server; rule: ask before push$/m,
  );
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
  const reported = await run(['ask', 'deny', ask.ask_id, '-m', 'no', '--json']);
  expect(JSON.parse(reported.stdout)).toMatchObject({
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
  const asking = builder.ask_human({
    prompt: 'Fix both?',
    options: [{ id: 'Fix both' }, { id: 'Open TASK-220' }],
  });
  let open: Ask[] = [];
  const listed = async () => (open = (await json<{ asks: Ask[] }>(['ask', 'ls'])).asks).length;
  await expect.poll(listed, { interval: 200 }).toBe(1);
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
    asks: { open: 1, complete: true, elsewhere: [] },
  });
  const { stdout } = await run(['status']);
  expect(stdout).toMatch(/^agents {4}1 needs you, 1 idle, 1 offline$/m);
  expect(stdout).toMatch(/^asks {6}1 open: .*ask ls$/m);
  await builder.withdraw_ask({ ask_id: ask.ask_id });
  expect((await run(['status'])).stdout).toMatch(/^asks {6}nobody waits for you$/m);
});

test('an option is chosen by its words too, whatever their case', async () => {
  const options = [
    { id: 'opt-a', label: 'Fix both' },
    { id: 'opt-b', label: 'Neither' },
  ];
  const raised = await builder.raise_ask({ kind: 'question', prompt: 'Which?', options });
  const answered = await json<{ ask: Ask }>(['ask', 'answer', raised.ask.ask_id, '--option', 'fix BOTH']);
  expect(answered.ask.verdict).toMatchObject({ decision: 'answered', option: 'opt-a' });
  const again = await builder.raise_ask({ kind: 'question', prompt: 'And now?', options });
  const unknown = await run(['ask', 'answer', again.ask.ask_id, '--option', 'Both']);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('offers no Both')]);
  await json(['ask', 'answer', again.ask.ask_id, '--option', 'opt-b']);
});

test('a rule for a folder in one’s home, or for where one is, fits what an agent reports', async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-home-')));
  const here = { env: { HOME: home }, cwd: home };
  for (const [folder, command] of [
    ['~/src/app', 'npm run lint'],
    ['src/app', 'npm run build'],
  ] as const) {
    await json(['ask', 'always', 'builder', command, '--cwd', folder], here);
    const { ask } = await builder.raise_ask({
      kind: 'approval',
      prompt: 'May I?',
      command,
      cwd: join(home, 'src/app'),
    });
    expect(ask.verdict, folder).toMatchObject({ decision: 'approved' });
  }
  rmSync(home, { recursive: true });
});

test('asks of other workspaces are told of, and whoever speaks as an agent is told so', async () => {
  const token = await issueToken(hub.data, 'elsewhere', 'worker', 'elsewhere-1', 'my-project');
  const agent = createClient({ url: hub.url, token });
  const { ask } = await agent.raise_ask({ kind: 'question', prompt: 'Anybody?' });
  const line = /1 open in the workspace my-project: .*ask ls --workspace my-project/;
  expect((await run(['ask', 'ls'])).stderr).toMatch(line);
  expect((await run(['status'])).stdout).toMatch(/1 open in my-project: .*ask ls --workspace my-project/);
  expect(await json(['status'])).toMatchObject({
    asks: { elsewhere: [{ workspace_id: 'my-project', open: 1 }] },
  });
  expect((await run(['ask', 'ls', '--workspace', 'my-project'])).stdout).toContain('Anybody?');

  const asAgent = { env: { PARLEY_TOKEN: await issueToken(hub.data, 'alice') } };
  const why = 'you speak as alice (worker in default), because of PARLEY_TOKEN';
  const listed = await run(['ask', 'ls'], asAgent);
  expect(listed.stderr).toContain(why);
  expect(listed.stderr).not.toContain('my-project');
  expect((await run(['status'], asAgent)).stdout).toMatch(
    /^you +alice \(worker in default\), by PARLEY_TOKEN$/m,
  );
  for (const args of [['link'], ['pair']]) {
    const refused = await run(args, asAgent);
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining(why)]);
  }
  await agent.withdraw_ask({ ask_id: ask.ask_id });
});

test('only who has the key of the folder hears of other workspaces', async () => {
  const token = await issueToken(hub.data, 'alice', 'operator');
  for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
    const reply = await fetch(`${hub.url}/local/asks`, { headers });
    expect(reply.status).toBe(401);
  }
});
