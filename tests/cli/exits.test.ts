import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { type Client, createClient } from '@parley/client';
import { beforeAll, expect, test } from 'vitest';

import { bareEnvironment, freshPath, issueToken, PARLEY, parley, startHub, type TestHub } from './parley.ts';

let hub: TestHub;
let token: string;
let person: Client;
beforeAll(async () => {
  hub = await startHub();
  person = createClient({ url: hub.url, token: await issueToken(hub.data, 'kim', 'operator') });
  token = await issueToken(hub.data, 'a');
});

/** One of each kind; what else can be typed wrong is tried in `program.test.ts`. */
const commands: [string, number, string[]][] = [
  ['help', 0, ['--help']],
  ['version', 0, ['--version']],
  ['an unknown command', 2, ['thraed', 'ls']],
  ['a missing argument', 2, ['read']],
  ['a wrong number', 2, ['thread', 'ls', '--limit', 'many']],
  ['a wrong duration', 2, ['token', 'issue', '--agent', 'a', '--ttl', 'soon']],
  ['a wrong name', 2, ['token', 'issue', '--agent', '../a']],
  ['a wrong address', 2, ['status', '--url', 'ftp://x']],
  ['no such thread', 3, ['read', 'th_none']],
  ['no such key', 3, ['key', 'retire', 'none']],
  ['a hub that does not answer', 5, ['status', '--url', 'http://127.0.0.1:9']],
  ['a role that may only look', 6, ['thread', 'new', 'x', '--role', 'observer']],
];

test.each(commands)('%s ends with %i', async (_what, code, args) => {
  const env: Record<string, string> = args.includes('--url') ? { PARLEY_TOKEN: token } : {};
  const plain = await parley([...args, '--data', hub.data], { env });
  expect(plain.code, plain.stderr).toBe(code);
  if (code === 0) return;
  expect(plain.stdout).toBe('');
  expect(plain.stderr).not.toMatch(/\n\s+at /);
  // A typo is answered with the command that was meant.
  if (args[0] === 'thraed') expect(plain.stderr).toContain('Did you mean thread?');
  const asData = await parley([...args, '--json', '--data', hub.data], { env });
  expect(asData.code).toBe(code);
  const { error } = JSON.parse(asData.stdout) as { error: { code: string; message: string } };
  expect(error.code).toMatch(/^[A-Z_]+$/);
  expect(error.message).not.toBe('');
});

test('no hub: 5, and the command that starts one works as it is printed; one that was killed is not taken for a running one', async () => {
  const data = freshPath("it's a folder");
  const { code, stderr } = await parley(['thread', 'ls', '--data', data]);
  expect(code).toBe(5);
  const printed = /start one with: (.+)$/m.exec(stderr)?.[1] ?? '';
  const child = spawn(`${printed} --port 0 --json`, {
    shell: true,
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { pid } = JSON.parse(String(line)) as { pid: number };
  expect((await parley(['thread', 'ls', '--data', data])).code).toBe(0);
  process.kill(pid, 'SIGKILL');
  await once(child, 'close');
  expect(await parley(['status', '--data', data])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('no hub runs on') as unknown,
  });
});

test('help exit-codes lists them all', async () => {
  const { stdout, code } = await parley(['help', 'exit-codes']);
  expect(code).toBe(0);
  expect([...stdout.matchAll(/^ {2}(\d) {2}\w/gm)].map(([, n]) => Number(n))).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('a reader that goes away is no error', async () => {
  const thread = await person.create_thread({ title: 'x' });
  for (let i = 0; i < 8; i++)
    await person.post_message({
      thread_id: thread.thread_id,
      schema_version: 1,
      body: 'x'.repeat(60_000),
    });
  const line = `node '${PARLEY}' export --data '${hub.data}' | head -n 1 >/dev/null; echo "\${PIPESTATUS[0]}"
    node '${PARLEY}' read ${thread.thread_id} --json --data '${hub.data}' | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"
    node '${PARLEY}' tail -f ${thread.thread_id} --data '${hub.data}' | head -n 1 >/dev/null; echo "\${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['-c', line], { env: bareEnvironment() });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child, 'close');
  expect({ stdout, stderr }).toEqual({ stdout: '0\n0\n0\n', stderr: '' });
});

test(
  'what is wrong with a line is told in the words of whoever typed it, and a range by both its ends',
  { timeout: 180_000 },
  async () => {
    const env = { PARLEY_URL: hub.url };
    const data = ['--data', hub.data];
    const { thread_id } = await person.create_thread({ title: 'x' });
    const cases: [string[], RegExp][] = [
      [['thread', 'new', 'x', '--with', 'a b'], /^parley: --with: must be 1 to 128 of/],
      [['thread', 'ls', '--limit', '0'], /--limit.* '0' .*whole number, 1 or more/],
      [['thread', 'summary', thread_id, '-n', '100000'], /whole number, from 1 to 10000/],
      [['thread', 'mute', thread_id, 'bob', '--for', '0s'], /0s is out of range; write 1s to 365d/],
      [['read', thread_id, '--limit', '0'], /whole number, 1 or more/],
      [['read', thread_id, '--since', '99999999999999999999'], /whole number, from 0 to 9007199254740991/],
      [['post', thread_id, 'hi', '--reply-to', '0'], /^parley: --reply-to names no message/],
      [['post', thread_id, 'hi', '--key', ''], /^parley: --key: must have at least 1 character/],
      [['post', thread_id, 'hi', '--as', 'a b'], /^parley: --as: must be 1 to 128 of/],
      [['quiet', 'bob', '--for', '100d'], /^parley: 100d is out of range; write 1s to 30d/],
      [['agent', 'type', 'bob', 'hi', '--for', '1h'], /^parley: 1h is out of range; write 1s to 10m/],
      [['slo', '--hours', '500'], /whole number, from 1 to 168/],
      [['usage', '--days', '0'], /whole number, from 1 to 3660/],
      [['know', 'cat', ''], /^parley: name a document: a title, a path/],
      [['know', 'put', 'x', '--tags', 't'.repeat(300)], /^parley: --tags: is longer than 100 bytes/],
      [['know', 'import', '/is/not/there'], /^parley: \/is\/not\/there is not there/],
      [['import', '/is/not/there'], /^parley: \/is\/not\/there is not there/],
      [['--config', '/', 'status'], /^parley: \/ is a folder, where a file is needed/],
      [['token', 'issue', '--agent', 'a', '--role', 'king'], /^parley: --role: must be one of operator/],
      [['serve', '--port', '99999'], /configuration: port: must be 0 to 65535; 99999 was given/],
      [['serve', '--set', 'quota.nope=1'], /configuration: there is no setting quota\.nope/],
      [['serve', '--set', 'foo'], /^parley: --set foo: write key=value/],
    ];
    for (const [args, words] of cases) {
      const other = args[0] === 'serve' ? ['--data', `${hub.data}-other`] : data;
      const { code, stdout, stderr } = await parley([...args, ...other], { env });
      expect([args, code === 0, stdout]).toEqual([args, false, '']);
      expect(stderr).toMatch(words);
      expect(stderr).not.toMatch(/ENOENT|EISDIR|Too (?:small|big)|Invalid input|Unrecognized|undefined/);
    }
    // For programs the field keeps the name that it has on the wire.
    const told = await parley(['post', thread_id, 'hi', '--key', '', '--json', ...data], { env });
    expect(JSON.parse(told.stdout)).toMatchObject({
      error: { code: 'VALIDATION_ERROR', message: expect.stringMatching(/^idempotency_key: /) as unknown },
    });
  },
);
