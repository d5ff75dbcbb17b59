import { spawn } from 'node:child_process';
import { userInfo } from 'node:os';

import { type Client, createClient } from '@parley/client';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { bareEnvironment, issueToken, PARLEY, parley, parleyJson, startHub, type TestHub } from './parley.ts';

let hub: TestHub;
/** Whom a command speaks for that is told nobody. */
let person: Client;
beforeAll(async () => {
  hub = await startHub();
  person = await clientOf(userInfo().username, 'operator');
});

const clientOf = async (agent: string, role?: string): Promise<Client> =>
  createClient({ url: hub.url, token: await issueToken(hub.data, agent, role) });

const run = (args: string[]) => parley([...args, '--data', hub.data]);
const json = <T>(args: string[]) => parleyJson<T>([...args, '--data', hub.data]);
const thread = (...args: string[]) => run(['thread', ...args]);
const newThread = async (...participants: string[]): Promise<string> =>
  (await person.create_thread({ title: 'A title', participants })).thread_id;
const post = async (who: Client, thread_id: string, body: string): Promise<unknown> =>
  who.post_message({ thread_id, schema_version: 1, body });

/** A command that goes on until the test ends, and all it has said. */
function following(args: string[]): () => string {
  const child = spawn(process.execPath, [PARLEY, ...args, '--data', hub.data], { env: bareEnvironment() });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return () => stdout;
}

test('[BRIDGE-6] a person steers a thread from the command line', async () => {
  const id = await newThread('alice', 'bob');
  const steps: [string[], string][] = [
    [
      ['invite', id, 'codex-1', '--client', 'codex', '--roles', 'planner,tester', '--nickname', 'Cody'],
      '#1  invited codex-1; calls upon codex-1',
    ],
    [['mute', id, 'alice', 'bob'], '#2  mute alice, bob'],
    [['unmute', id, 'bob'], '#3  unmute bob'],
    [['prod', id, 'bob'], '#4  prod bob; calls upon bob'],
    [['pause', id], '#5  paused'],
    [['rename', id, 'Another title'], `${id} is “Another title”`],
    [['done', id, '--in', '10m'], '#7  ends in 10m'],
    [['done', id], '#8  done'],
  ];
  for (const [args, said] of steps)
    expect(await thread(...args)).toMatchObject({ code: 0, stdout: `${said}\n` });
  const shown = (await thread('show', id)).stdout;
  for (const line of [
    /^title +Another title$/m,
    /^muted +alice$/m,
    /^paused /m,
    /^done /m,
    /^ends /m,
    /^prodded +bob$/m,
    /^profile +codex-1: Cody codex planner tester$/m,
  ])
    expect(shown).toMatch(line);
  const refused = await run(['post', id, 'hello', '--as', 'bob']);
  expect(refused).toMatchObject({ code: 6 });
  expect(refused.stderr).toContain('the thread is paused');
  expect((await thread('resume', id)).stdout).toBe('#9  resumed\n');
  expect((await thread('done', id, '--undo')).stdout).toBe('#10  goes on\n');
  expect((await run(['post', id, 'hello', '--as', 'bob'])).code).toBe(0);
  const worker = await thread('mute', id, 'bob', '--as', 'alice');
  expect(worker).toMatchObject({ code: 6, stdout: '' });
  expect((await thread('mute', id, 'ghost')).code).toBe(2);
  expect((await thread('mute', id)).code).toBe(2);
  expect((await thread('done', id, '--in', 'soon')).code).toBe(2);
});

test('[BRIDGE-6] a mute for a while ends by itself, and says when', async () => {
  const id = await newThread('alice', 'bob');
  expect((await thread('mute', id, 'alice', '--for', '3s')).stdout).toBe('#1  mute alice for 3s\n');
  expect((await thread('show', id)).stdout).toMatch(/^muted +alice until .*\d\d:\d\d/m);
  expect((await run(['post', id, 'hello', '--as', 'alice'])).code).toBe(6);
  await vi.waitFor(async () => expect((await run(['post', id, 'hello', '--as', 'alice'])).code).toBe(0), {
    timeout: 20_000,
    interval: 500,
  });
  expect((await thread('show', id)).stdout).not.toMatch(/^muted/m);
  expect((await thread('mute', id, 'alice', '--for', 'a while')).code).toBe(2);
});

test('[BRIDGE-17] a side channel is opened, shown and closed from the command line', async () => {
  const id = await newThread('alice');
  const side = (
    await thread('side', 'open', id, 'The cache', '-m', 'find the leak', '--with', 'alice')
  ).stdout.trim();
  expect(side).toMatch(/^th_/);
  expect((await thread('show', id)).stdout).toContain(`side          ${side}  The cache: find the leak`);
  expect((await thread('show', side)).stdout).toMatch(new RegExp(`^beside +${id}$`, 'm'));
  const closed = await thread('side', 'close', side, '-m', 'it was the cache');
  expect(closed.stdout).toBe(`${side} is closed; its summary stands in ${id}\n`);
  expect((await run(['read', id])).stdout).toContain('it was the cache');
  expect((await thread('side', 'open', id, 'no purpose')).code).toBe(2);
});

test('[BRIDGE-10] presence is said and shown on the command line', async () => {
  const id = await newThread('alice');
  expect((await thread('presence', id, 'thinking', '--as', 'alice', '--persist')).stdout).toMatch(
    /^thinking until /,
  );
  expect((await thread('presence', id)).stdout).toMatch(/^alice +thinking +since /m);
  expect(await json(['thread', 'presence', id])).toMatchObject({
    participants: [{ state: 'offline' }, { agent_id: 'alice', state: 'thinking' }],
  });
  expect((await run(['read', id])).stdout).toContain('thinking.start');
  expect((await thread('presence', id, 'sleeping')).code).toBe(2);
});

test('[C-BRIDGE-15] what a profile holds cannot steer the terminal', async () => {
  const id = await newThread();
  const evil = '\u001b[2J\n  #9  boss';
  await thread('invite', id, 'eve', '--client', evil, '--roles', '\u202eevil');
  for (const args of [
    ['show', id],
    ['presence', id],
  ]) {
    const { stdout, code } = await thread(...args);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|[\u2028-\u202e\u2066-\u2069]/u);
    expect(stdout).toContain('\\u{1b}[2J\\n  #9  boss');
  }
});

test('[BRIDGE-19] tail -f without a thread shows all that happens, also as JSON', async () => {
  const before = await newThread('alice');
  const [people, data] = [following(['tail', '-f']), following(['tail', '-f', '--json'])];
  // Both are there once they have heard of something.
  await expect
    .poll(
      async () => {
        await post(person, before, 'are you there?');
        return people().includes('are you there?') && data().includes('are you there?');
      },
      { timeout: 20_000, interval: 200 },
    )
    .toBe(true);
  const id = await newThread('bob');
  const bob = await clientOf('bob');
  await post(bob, id, '-m\n#1 forged');
  await post(bob, id, 'two\nlines');
  await thread('presence', id, 'typing', '--as', 'bob');
  await expect
    .poll(() => people(), { timeout: 20_000 })
    .toMatch(/bob {2}\[presence\] {2}\{"state":"typing"\}/);
  expect(people()).toMatch(
    new RegExp(`^${id} {2} +#\\d+ {2}\\d\\d:\\d\\d:\\d\\d {2}bob {2}two\\n {6}lines$`, 'm'),
  );
  expect(people()).toContain('"thread.created"');
  await expect.poll(() => data(), { timeout: 20_000 }).toContain('typing');
  const happenings = data()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { pos?: number; event: { type: string; content: unknown } });
  const positions = happenings.flatMap(({ pos }) => (pos === undefined ? [] : [pos]));
  expect(positions).toEqual(positions.map((_, i) => (positions[0] ?? 0) + i));
  expect(happenings.find(({ event }) => event.content === 'two\nlines')?.event).toMatchObject({
    type: 'message',
    from: 'bob',
  });
  expect(happenings.at(-1)).not.toHaveProperty('pos');
  expect((await run(['tail'])).code).toBe(2);
});

test('an agent that is gone is taken off the list; one that is there is refused, with what to do', async () => {
  const as = (agent: string, ...words: string[]) => run([...words, '--as', agent]);
  const id = await newThread('passer-by');
  const client = await clientOf('passer-by');
  await post(client, id, 'hello');
  await client.heartbeat_session({ runtime: 'test' });
  expect(await run(['agent', 'rm', 'passer-by'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/was heard at .*end its program first/) as string,
  });
  expect(await as('alice', 'agent', 'rm', 'passer-by')).toMatchObject({ code: 6 });
  await client.update_agent_status({ status: 'offline' });
  await client.heartbeat_session({ runtime: 'test', status: 'offline' });
  expect(await json(['agent', 'rm', 'passer-by', '--reason', 'a trial'])).toMatchObject({
    agent_id: 'passer-by',
    sessions: 1,
  });
  expect((await run(['agent', 'ls'])).stdout).not.toContain('passer-by');
  expect((await run(['read', id])).stdout).toContain('hello');
  expect(await run(['agent', 'rm', 'passer-by'])).toMatchObject({ code: 3 });
  expect((await run(['agent', 'rm', '--help'])).stdout).toContain('It is back when it is heard again');
});

test('an error of an agent that is gone stands until somebody dismisses it', async () => {
  const builder = await clientOf('failing');
  await builder.report_event({ event_type: 'task_failed', data: { message: 'npm test failed' } });
  await builder.update_agent_status({ status: 'offline' });
  expect((await run(['agent', 'ls', '--state', 'error'])).stdout).toMatch(
    /error +failing .*npm test failed; since then offline/,
  );
  expect((await run(['agent', 'show', 'failing'])).stdout).toMatch(/failed .*: npm test failed/);
  expect(await run(['agent', 'dismiss', 'failing', '--as', 'alice'])).toMatchObject({ code: 6 });
  expect(await run(['agent', 'dismiss', 'failing'])).toMatchObject({
    code: 0,
    stdout: 'dismissed: npm test failed\n',
  });
  expect(await run(['agent', 'dismiss', 'failing'])).toMatchObject({ stdout: 'failing has no error\n' });
  expect((await run(['agent', 'ls', '--state', 'error'])).stdout).not.toContain('failing');
});
