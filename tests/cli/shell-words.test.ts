import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
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
let short: string;
let thread: string;
/** What a person has whose `parley` is installed and whose hub runs. */
let env: Record<string, string>;
beforeAll(async () => {
  hub = await startHub();
  const bin = freshPath('bin');
  mkdirSync(bin);
  symlinkSync(PARLEY, join(bin, 'parley'));
  env = bareEnvironment({
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    TERM: 'xterm',
    PARLEY_URL: hub.url,
    PARLEY_TOKEN: await issueToken(hub.data, 'you', 'operator'),
  });
  const made = await parleyJson<{ thread_id: string }>(['thread', 'new', 'Mapper review'], { env });
  thread = made.thread_id;
  short = thread.slice(-10, -4);
  for (const name of ['worker-10', 'worker-2'])
    await call('heartbeat_session', name, { runtime: 'script', status: 'active' });
});

async function call(operation: string, agent: string, input: object): Promise<unknown> {
  const token = await issueToken(hub.data, agent, 'worker', `${agent}-s`);
  const answer = await fetch(`${hub.url}/v1/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  expect(answer.status, await answer.clone().text()).toBeLessThan(300);
  return answer.json();
}

/** What a terminal of this width shows of a command. */
async function screenOf(command: string, columns: number): Promise<string[]> {
  const script = `stty cols ${columns} rows 40; ${command}`;
  const child = spawn('script', ['-qefc', script, '/dev/null'], { env });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  await once(child, 'close');
  return (
    screen
      // oxlint-disable-next-line eslint/no-control-regex -- Colours are no width.
      .replaceAll(/\u001b\[[\d;]*[mK]/g, '')
      .split(/\r?\n/)
      .filter((line) => line !== '')
  );
}

describe('threads by a few letters', { timeout: 120_000 }, () => {
  test('the short id that a list shows, the beginning and the end of an id all name the thread', async () => {
    const [row = ''] = await screenOf('parley thread ls', 80);
    expect(row).toMatch(new RegExp(`^${short}  active .*Mapper review$`));
    // In a pipe the id is whole.
    expect((await parley(['thread', 'ls'], { env })).stdout).toContain(thread);
    for (const word of [short, short.toLowerCase(), thread.slice(0, 20), thread.slice(-12)])
      expect((await parleyJson<{ thread_id: string }>(['thread', 'show', word], { env })).thread_id).toBe(
        thread,
      );
    const posted = await parley(['post', short, 'by a few letters'], { env });
    expect(posted.code, posted.stderr).toBe(0);
    for (const command of ['read', 'tail'])
      expect((await parley([command, short], { env })).stdout).toContain('by a few letters');
    expect((await parley(['why', short, '1'], { env })).stdout).toContain('accepted');
  });

  test('what names no thread, or several, is said', async () => {
    const none = await parley(['thread', 'show', 'ZZZZZZ'], { env });
    expect([none.code, none.stderr]).toEqual([
      3,
      'parley: there is no thread ZZZZZZ; see parley thread ls\n',
    ]);
    await parley(['thread', 'new', 'Another'], { env });
    const mark = thread.slice(-4);
    const several = await parley(['thread', 'show', mark], { env });
    expect(several.code).toBe(2);
    expect(several.stderr).toMatch(/^parley: \d+ threads are called .*; give more of the id$/m);
  });
});

describe('tables fit', { timeout: 120_000 }, () => {
  test('asks: the most urgent first; the risk and the command stay at 80 columns, and at none', async () => {
    const raise = (command: string, risk: string, seconds: number) =>
      call('raise_ask', 'a-reviewer-with-quite-a-long-name', {
        kind: 'approval',
        prompt: 'May I?',
        command,
        risk,
        expires_in_ms: seconds * 1_000,
      });
    await raise('rm -rf ./build-of-yesterday', 'high', 3_000);
    await raise('npm test', 'low', 600);
    await raise(`git push origin ${'a-very-long-branch/'.repeat(10)}`, 'low', 1_200);
    for (const [columns, width] of [
      [80, 80],
      [120, 120],
      [0, 80],
    ] as const) {
      const lines = await screenOf('parley ask ls', columns);
      expect(lines).toHaveLength(3);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
      expect(lines[0]).toMatch(/high .*rm -rf \.\/build-of-yesterday$/);
      expect(lines[1]).toMatch(/low .*npm test$/);
      expect(lines[2]).toMatch(/low .*git push origin a-very.*…$/);
    }
  });

  test('agents: what needs a person first, numbers in names by their value', async () => {
    const lines = await screenOf('parley agent ls', 80);
    expect(lines[0]).toMatch(/^needs you +a-reviewer-with-quite-a-lon\S*… .*asks to run: rm -rf/);
    const names = lines.map((line) => /worker-\d+/.exec(line)?.[0]).filter((name) => name !== undefined);
    expect(names).toEqual(['worker-2', 'worker-10']);
  });
});

describe('the name alone, and help', () => {
  test('it shows the commands and what runs, and does not serve', async () => {
    const data = freshPath();
    const nothing = await parley(['--data', data]);
    expect(nothing.code).toBe(0);
    expect(nothing.stdout).toContain('Usage: parley');
    expect(nothing.stdout).toContain(`No hub runs on ${data}. Start one: `);
    const running = await parley(['--data', hub.data]);
    expect(running.stdout).toContain(`A hub runs at ${hub.url} (process ${hub.pid}, data ${hub.data}).`);
    expect(await parleyJson(['--data', hub.data])).toMatchObject({
      running: true,
      url: hub.url,
      pid: hub.pid,
    });
    const flags = await parley(['--port', '0', '--data', data]);
    expect([flags.code, flags.stderr]).toEqual([2, expect.stringContaining("unknown option '--port'")]);
  });

  test("a command's own options come before those that it shares", async () => {
    for (const command of [['post'], ['thread', 'ls'], ['ask', 'approve'], ['know', 'import']]) {
      const { stdout } = await parley([...command, '--help']);
      const order = ['\nOptions:\n', '\nWhich hub, and as whom:\n', '\nGlobal Options:\n'].map((title) =>
        stdout.indexOf(title),
      );
      expect(order, stdout).toEqual(order.toSorted((a, b) => a - b));
      expect(order[0]).toBeGreaterThan(0);
      expect(stdout.indexOf('--url')).toBeGreaterThan(order[1] ?? 0);
    }
  });
});

/** Types into a shell at a terminal, each piece once the one before has brought what is said beside it, and gives what stood on the screen. */
async function typedInto(
  shell: readonly string[],
  pieces: readonly (readonly [typed: string, brings: string])[],
): Promise<string> {
  const child = spawn('script', ['-qefc', shell.join(' '), '/dev/null'], { env: { ...env, PS1: '> ' } });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  for (const [typed, brings] of pieces) {
    const from = screen.length;
    child.stdin.write(typed);
    await expect.poll(() => withoutPaint(screen.slice(from))).toContain(brings);
  }
  child.stdin.end('\u0003\u0004exit\n');
  await Promise.race([once(child, 'close'), pause(3_000)]);
  child.kill('SIGKILL');
  return screen;
}

/** What is on the screen without the signs by which a line editor paints. */
function withoutPaint(screen: string): string {
  // oxlint-disable-next-line eslint/no-control-regex -- The line editor paints as it goes.
  return screen.replaceAll(/\u001b\[[?\d;]*[A-Za-z]|[\u0007\b]/g, '');
}

describe('completion', { timeout: 120_000 }, () => {
  test('the program answers with commands, options, choices and what the hub has', async () => {
    const words = async (...typed: string[]) =>
      (await parley(['complete', '--', ...typed], { env })).stdout
        .split('\n')
        .map((line) => line.split('\t')[0]);
    expect(await words('thr')).toEqual(['thread', '']);
    expect(await words('thread', 'su')).toEqual(['summary', '']);
    expect(await words('thread', 'ls', '--st')).toEqual(['--status', '--store', '']);
    expect(await words('thread', 'ls', '--status', 'bl')).toEqual(['blocked', '']);
    expect(await words('thread', 'show', '')).toContain(short);
    expect(await words('agent', 'show', 'worker-1')).toEqual(['worker-10', '']);
    expect(await words('thread', 'show', short, '')).toEqual(['']);
    // Nobody answers: nothing is offered, and nothing is said.
    const away = { ...env, PARLEY_URL: 'http://127.0.0.1:1' };
    expect(await parley(['complete', '--', 'thread', 'show', ''], { env: away })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect((await parley(['completion', 'csh'])).code).toBe(2);
  });

  /** The beginnings of words, and what completes each. */
  const completed = () =>
    [
      ['parley thr\t', 'ead '],
      ['sho\t', 'w '],
      [`${short.slice(0, 4)}\t`, short.slice(4)],
    ] as const;

  test('bash completes at a terminal', async () => {
    const file = freshPath('parley.bash');
    writeFileSync(file, (await parley(['completion', 'bash'])).stdout);
    const screen = await typedInto(
      ['bash', '--norc', '--noprofile', '-i'],
      [[`source ${file}; source ${file}; echo $((6*7))\n`, '42'], ...completed()],
    );
    expect(screen).toContain(`parley thread show ${short}`);
  });

  describeWith(['zsh'], 'zsh', () => {
    test('zsh completes at a terminal', async () => {
      const folder = freshPath('functions');
      mkdirSync(folder);
      writeFileSync(join(folder, '_parley'), (await parley(['completion', 'zsh'])).stdout);
      const screen = await typedInto(
        ['zsh', '-f', '-i'],
        [
          [`fpath=(${folder} $fpath); autoload -Uz compinit; compinit -u -D; echo $((6*7))\n`, '42'],
          ...completed(),
        ],
      );
      expect(withoutPaint(screen)).toContain(short);
    });
  });

  describeWith(['fish'], 'fish', (tools) => {
    test('fish completes by its own engine', async () => {
      const file = freshPath('parley.fish');
      writeFileSync(file, (await parley(['completion', 'fish'])).stdout);
      const ask = async (line: string): Promise<string> => {
        const child = spawn(tools.fish, ['--no-config', '-c', `source ${file}; complete -C '${line}'`], {
          env,
        });
        let said = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
        await once(child, 'close');
        return said;
      };
      expect(await ask('parley thr')).toMatch(/^thread\tlist, start/);
      expect(await ask('parley thread show ')).toContain(`${short}\tMapper review`);
    });
  });
});
