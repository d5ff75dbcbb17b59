import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { beforeAll, expect, test } from 'vitest';

import {
  bareEnvironment,
  freshPath,
  issueToken,
  PARLEY,
  parley,
  parleyJson,
  startHub,
  type TestHub,
} from './parley.ts';

let hub: TestHub;
let token: string;
beforeAll(async () => {
  hub = await startHub();
  token = await issueToken(hub.data, 'a');
});

const commands: [string, number, string[]][] = [
  ['help', 0, ['--help']],
  ['version', 0, ['--version']],
  ['an unknown command', 2, ['thraed']],
  ['an unknown option', 2, ['status', '--what']],
  ['a group without command', 2, ['thread']],
  ['a missing argument', 2, ['read']],
  ['a missing required option', 2, ['token', 'issue']],
  ['a wrong choice', 2, ['thread', 'ls', '--status', 'odd']],
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
  const asData = await parley([...args, '--json', '--data', hub.data], { env });
  expect(asData.code).toBe(code);
  const { error } = JSON.parse(asData.stdout) as { error: { code: string; message: string } };
  expect(error.code).toMatch(/^[A-Z_]+$/);
  expect(error.message).not.toBe('');
});

test('a typo is answered with the command that was meant', async () => {
  expect((await parley(['thraed', 'ls'])).stderr).toContain('Did you mean thread?');
});

test('no hub: 5, and the command that starts one works as it is printed', async () => {
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
  process.kill(pid);
  await once(child, 'close');
});

test('a hub that was killed is not taken for a running one', async () => {
  const killed = await startHub();
  await killed.stop('SIGKILL');
  const { code, stderr } = await parley(['status', '--data', killed.data]);
  expect(code).toBe(5);
  expect(stderr).toContain('no hub runs on');
});

test('help exit-codes lists them all', async () => {
  const { stdout, code } = await parley(['help', 'exit-codes']);
  expect(code).toBe(0);
  expect([...stdout.matchAll(/^ {2}(\d) {2}\w/gm)].map(([, n]) => Number(n))).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('every command explains itself with an example', async () => {
  const listed = (await parley(['--help'])).stdout;
  const names = [...listed.matchAll(/^ {2}([a-z]+) .*\S/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
  expect(names.length).toBeGreaterThan(14);
  for (const name of names) {
    const { stdout, code } = await parley([name, '--help']);
    expect(code).toBe(0);
    if (!/^Commands:$/m.test(stdout)) expect(stdout, name).toMatch(/Examples?:\n {2}/);
  }
});

test('a reader that goes away is no error', async () => {
  const thread = await parleyJson<{ thread_id: string }>(['thread', 'new', 'x', '--data', hub.data]);
  const line = `for i in 1 2 3 4 5 6 7 8; do node '${PARLEY}' post ${thread.thread_id} "$(head -c 60000 /dev/zero | tr '\\0' x)" --data '${hub.data}' >/dev/null; done
    node '${PARLEY}' export --data '${hub.data}' | head -n 1 >/dev/null; echo "\${PIPESTATUS[0]}"
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
