import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { bareEnvironment, freshPath, PARLEY, parley } from './parley.ts';

const ESCAPE = '\u001b[';

/** Runs a command at a terminal, with Ctrl-C once `until` is on the screen. */
async function atTerminal(
  command: string,
  env: Record<string, string> = {},
  until?: string,
): Promise<string> {
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: bareEnvironment({ TERM: 'xterm', ...env }),
  });
  let screen = '';
  let pressed = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (until === undefined || pressed || !screen.includes(until)) return;
    pressed = true;
    child.stdin.write('\u0003');
  });
  await once(child, 'close');
  return screen;
}

test('the first screen of serve is calm and its commands carry the folder', async () => {
  const data = freshPath();
  const serve = `node '${PARLEY}' serve --port 0 --data '${data}'`;
  const screen = await atTerminal(serve, {}, 'Ctrl-C');
  expect(screen).toContain('HTTP    http://127.0.0.1:');
  expect(screen).not.toContain('"level"');
  expect(screen).toContain(`--data ${data} demo`);
  expect(screen).toContain(ESCAPE);
  expect(await atTerminal(`${serve} --log-level info`, {}, 'Ctrl-C')).toContain('"stopping"');
});

test('started by npm or npx it prints npx', async () => {
  const screen = await atTerminal(
    `node '${PARLEY}' serve --port 0 --data '${freshPath()}'`,
    { npm_command: 'start' },
    'Ctrl-C',
  );
  expect(screen).toContain('npx parley --data');
});

test('colour only at a terminal, and not when it is unwanted', async () => {
  const demo = `node '${PARLEY}' demo --fast --data '${freshPath()}'`;
  expect(await atTerminal(demo)).toContain(ESCAPE);
  expect(await atTerminal(demo, { NO_COLOR: '1' })).not.toContain(ESCAPE);
  expect(await atTerminal(`${demo} --no-color`)).not.toContain(ESCAPE);
  expect((await parley(['demo', '--data', freshPath()])).stdout).not.toContain(ESCAPE);
});
