import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createClient } from '@parley/client';
import { beforeAll, expect, test } from 'vitest';

import { freshPath, issueToken, parley, parleyJson, startHub, type TestHub } from './parley.ts';

const CODEX = fileURLToPath(new URL('../wake/telling-codex.mjs', import.meta.url));
let hub: TestHub;
beforeAll(async () => {
  const data = freshPath();
  const work = join(dirname(data), 'wake-work');
  mkdirSync(work, { recursive: true });
  const agents = [{ agent: 'bob', runtime: 'codex', bin: CODEX, cwd: work, home: work, doors: ['resume'] }];
  hub = await startHub(data, [
    '--set',
    `wake.agents=${JSON.stringify(agents)}`,
    'wake.on_call=false',
    'wake.recheck_ms=200',
  ]);
  const client = createClient({ url: hub.url, token: await issueToken(data, 'bob') });
  await client.heartbeat_session({
    runtime: 'codex_cli',
    resumable: true,
    native_session_id: '019a0000-0000-7000-8000-000000000001',
  });
});

const run = (...args: string[]) => parley([...args, '--data', hub.data]);
async function unread(agent = 'bob'): Promise<string> {
  const person = createClient({ url: hub.url, token: await issueToken(hub.data, 'kim', 'operator') });
  const { thread_id } = await person.create_thread({ title: 'A title', participants: [agent] });
  await person.post_message({ thread_id, schema_version: 1, body: 'look at it' });
  return thread_id;
}

test('[HUB-M9] a person wakes an agent and sees each door as it is tried; why tells it afterwards', async () => {
  const thread_id = await unread();
  const { code, stdout } = await run('wake', 'bob');
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/wake asked for by /);
  expect(lines).toContainEqual(expect.stringMatching(/delivering through codex_resume$/));
  expect(lines).toContainEqual(
    expect.stringMatching(/delivered through codex_resume, shown by runtime_status$/),
  );
  expect(lines.at(-1)).toBe('bob delivered through codex_resume, shown by runtime_status');
  expect((await run('why', thread_id, '1')).stdout).toMatch(
    /woken +bob, for \S+: delivered through codex_resume/,
  );
  expect((await run('wake', 'bob', '--thread', thread_id)).stdout).toContain('bob skipped: already woken');
  // What was skipped is on record too, with its reason.
  expect((await run('why', thread_id, '1')).stdout).toMatch(
    /not woken +bob, for \S+: skipped \(already_woken\)/,
  );
});

test('a wake that came to nothing is told as such', async () => {
  const client = createClient({ url: hub.url, token: await issueToken(hub.data, 'carol') });
  await client.heartbeat_session({ runtime: 'claude_code' });
  const thread_id = await unread('carol');
  expect((await run('wake', 'carol', '--thread', thread_id)).code).toBe(1);
  const { stdout } = await run('why', thread_id, '1');
  expect(stdout).toMatch(/^ {2}not woken +carol, for \S+: failed \(UNMANAGED_RUNTIME\)/m);
  expect(stdout).not.toMatch(/^ {2}woken/m);
});

test('with --json there is one document, with the steps in it; what cannot be done is said', async () => {
  const thread_id = await unread();
  const reported = await parleyJson<{ result: string; steps: { step: string }[] }>([
    'wake',
    'bob',
    '--thread',
    thread_id,
    '--force',
    '--reason',
    'the release waits',
    '--data',
    hub.data,
  ]);
  expect(reported).toMatchObject({ result: 'delivered', door: 'codex_resume' });
  expect(reported.steps.map(({ step }) => step)).toEqual(
    expect.arrayContaining(['asked', 'delivering', 'delivered']),
  );
  expect(reported.steps[0]).toMatchObject({ force: { audit: { reason: 'the release waits' } } });
  const silent = await run('wake', 'bob', '--force');
  expect(silent).toMatchObject({ code: 2 });
  expect(silent.stderr).toContain('--reason');
  expect(await run('wake', 'nobody')).toMatchObject({ code: 3 });
});

test('who is left alone is not woken until it is taken back; parley quiet says who and until when', async () => {
  expect((await run('quiet')).stdout).toBe('Nobody is left alone.\n');
  expect((await run('quiet', 'bob', '--for', '2h', '--reason', 'it thinks')).stdout).toMatch(
    /^bob +until .* +by \S+ +it thinks$/m,
  );
  const thread_id = await unread();
  const held = await run('wake', 'bob', '--thread', thread_id);
  expect(held.stdout.trimEnd().split('\n').at(-1)).toMatch(
    /^bob is left alone until .*; it is woken afterwards$/,
  );
  const { quiet } = await parleyJson<{ quiet: object[] }>(['quiet', '--data', hub.data]);
  expect(quiet).toMatchObject([{ agent_id: 'bob', reason: 'it thinks' }]);
  expect((await run('quiet', 'bob', '--off')).stdout).toBe('bob may be woken again\n');
  const why = async () => (await run('why', thread_id, '1')).stdout;
  await expect.poll(why, { timeout: 30_000, interval: 300 }).toMatch(/delivered through codex_resume/);
  const night = await run('quiet', '--everybody', '--hours', '9:00-9:30');
  expect(night.stdout).toMatch(/^everybody +09:00-09:30 \S+ +by /);
  expect((await run('quiet', '--everybody', '--off')).code).toBe(0);
  for (const wrong of [
    ['bob', '--everybody'],
    ['--for', '2h'],
    ['bob', '--off', '--for', '2h'],
    ['bob', '--hours', 'nights'],
    ['bob', '--hours', '25:00-07:00'],
  ])
    expect((await run('quiet', ...wrong)).code).toBe(2);
});
