import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test, vi } from 'vitest';

import { cleanEnv, PARLEY } from '../harness/start-hub.ts';
import { PROGRAM as PROXY } from '../proxy/proxy-client.ts';
import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, health } from './hub-client.ts';

/** The writing end of a pipe that is full, and that nobody reads. */
function fullPipe(): number {
  const path = join(temporaryFolder(), 'pipe');
  spawnSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  for (let size = 65_536; size > 0;) {
    try {
      writeSync(reader, Buffer.alloc(size));
    } catch {
      size = size >> 1;
    }
  }
  const writer = openSync(path, constants.O_WRONLY);
  onTestFinished(() => [reader, writer].forEach(closeSync));
  return writer;
}

interface Started {
  child: ChildProcess;
  /** Settles when it has ended. */
  ended: Promise<unknown>;
}

function start(args: string[], folder: string, stdio: ('pipe' | 'ignore' | number)[]): Started {
  const env = cleanEnv(join(folder, 'data'), { ATM_HOME: folder, CODEX_BIN: '/bin/false', TERM: 'xterm' });
  const child = spawn(process.execPath, args, { env, cwd: folder, stdio });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended };
}

/** Starts a hub whose log goes to this descriptor. */
async function startLogging(stderr: number | 'pipe') {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const serve = [PARLEY, 'serve', '--json', '--data', data, '--port', '0'];
  const started = start(serve, folder, ['ignore', 'pipe', stderr]);
  const [line] = (await once(started.child.stdout!, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  const alice = clientOf(url, 'alice', await tokenFor(data, 'alice'));
  onTestFinished(() => alice.close());
  return { ...started, data, url, callOften: (count: number) => callOften(alice, count) };
}

async function callOften(alice: ReturnType<typeof clientOf>, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect((await alice.call('list_threads', {})).status).toBe(200);
}

test('a hub whose stderr nobody reads serves on, and ends well on SIGTERM', async () => {
  const hub = await startLogging(fullPipe());
  await hub.callOften(100);
  // The lines are handed over in the background.
  await sleep(500);
  await hub.callOften(100);
  const toldAt = performance.now();
  hub.child.kill('SIGTERM');
  expect(await hub.ended).toEqual([0, null]);
  expect(performance.now() - toldAt).toBeLessThan(5_000);
  expect(readFileSync(join(hub.data, 'hub.json'), 'utf8')).toBe('{}\n');
});

test('a second SIGTERM ends such a hub at once', async () => {
  const hub = await startLogging(fullPipe());
  await hub.callOften(100);
  await sleep(500);
  hub.child.kill('SIGTERM');
  hub.child.kill('SIGTERM');
  await hub.ended;
});

test('a hub whose stderr was closed serves on, and ends well on SIGTERM', async () => {
  const hub = await startLogging('pipe');
  hub.child.stderr?.destroy();
  hub.child.stdout?.destroy();
  await hub.callOften(100);
  await sleep(500);
  await hub.callOften(100);
  hub.child.kill('SIGTERM');
  expect(await hub.ended).toEqual([0, null]);
});

/** True once a process has taken SIGTERM into its own hands. */
function handlesSigterm({ pid }: ChildProcess): boolean {
  const [, mask = ''] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & (1n << 14n)) !== 0n;
}

const ASKED = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: {} }));

const PROGRAMS = {
  'parley mcp': [PARLEY, 'mcp', '--agent', 'a'],
  'parley run': [PARLEY, 'run', '--agent', 'b', '--', 'sh', '-c', 'yes'],
  'parley run --acp': [PARLEY, 'run', '--agent', 'c', '--acp', '--', 'cat'],
  'atm-agent-mcp serve': [PROXY, 'serve', '--team', 't', '--identity', 'd'],
  'atm-agent-mcp bridge': [PROXY, 'bridge', '--team', 't'],
};

test.runIf(process.platform === 'linux')(
  'every program that runs on and on ends on SIGTERM when nobody reads what it says',
  async () => {
    const hub = await startHub(temporaryFolder());
    const endings = Object.entries(PROGRAMS).map(async ([name, [program = '', verb = '', ...rest]]) => {
      const folder = temporaryFolder();
      const team = join(folder, '.claude', 'teams', 't');
      mkdirSync(team, { recursive: true });
      writeFileSync(join(team, 'config.json'), JSON.stringify({ name: 't', members: [] }));
      const args = [program, verb, ...(program === PARLEY ? ['--data', hub.folder] : []), ...rest];
      const { child, ended } = start(args, folder, ['pipe', fullPipe(), fullPipe()]);
      child.stdin?.write(ASKED.map((one) => `${JSON.stringify(one)}\n`).join(''));
      await vi.waitFor(() => expect(handlesSigterm(child), name).toBe(true), { timeout: 20_000 });
      await sleep(1_000);
      const toldAt = performance.now();
      child.kill('SIGTERM');
      await ended;
      expect(performance.now() - toldAt, name).toBeLessThan(10_000);
    });
    await Promise.all(endings);
    expect(await health(hub)).toBe(200);
  },
);
