import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, onTestFinished } from 'vitest';

import { bareEnvironment, freshPath } from '../cli/parley.ts';
import { openBrowser, SCREENS } from './desk.ts';
import { otherMachine } from './trusting-browser.ts';

const run = promisify(execFile);
/** On a machine that does nothing else it takes 20 seconds, of which the demo's play is the half. */
const MOST_MS = 60_000;

/** From what npm has just installed under a prefix to an answer that is given on a second device. */
export async function spendFirstMinute(prefix: string): Promise<void> {
  const home = freshPath('home');
  mkdirSync(home);
  const env = bareEnvironment({
    HOME: home,
    PATH: `${join(prefix, 'bin')}:${process.env['PATH'] ?? ''}`,
  });
  const parley = join(prefix, 'bin/parley');
  const typed = async (...args: string[]) => (await run(parley, args, { env, cwd: home })).stdout;
  const start = Date.now();
  const lan = ['lan.address=127.0.0.2', 'lan.name=first-minute.local', 'lan.port=0', 'lan.setup_port=0'];
  const hub = spawn(parley, ['serve', '--port', '0', '--lan', '--set', ...lan], { env, cwd: home });
  const ended = once(hub, 'close');
  onTestFinished(async () => void (hub.kill('SIGTERM'), await ended));
  let screen = '';
  await new Promise<void>((resolve) => {
    hub.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      if (screen.includes('Ctrl-C')) resolve();
    });
    void ended.then(() => resolve());
  });
  const [open = ''] = /http:\/\/127\.0\.0\.1:\d+\/#k=[\w-]+/.exec(screen) ?? [];
  const [setup = ''] = /http:\/\/127\.0\.0\.2:\d+/.exec(screen) ?? [];
  const [link = ''] = /https:\/\/127\.0\.0\.2:\d+\/#k=[\w-]+/.exec(screen) ?? [];

  const here = await (await (await openBrowser()).newContext(SCREENS.desktop)).newPage();
  await here.goto(open);
  await here.getByText('Three steps').waitFor();
  const played = typed('demo');
  await here.getByText('reviewer_agent').first().waitFor();
  expect(await played).toContain('a question waits for you on the dashboard');

  const machine = otherMachine('first-minute.local', '127.0.0.2');
  machine.trust(await (await fetch(`${setup}/parley.pem`)).text());
  const tablet = await (await (await machine.open()).newContext(SCREENS.tablet)).newPage();
  await tablet.goto(link);
  await tablet.getByRole('button', { name: 'Yes, ask me' }).tap();
  await tablet.getByRole('button', { name: 'Yes, ask me' }).waitFor({ state: 'detached' });
  await here.getByRole('button', { name: 'Yes, ask me' }).waitFor({ state: 'detached' });
  const { asks } = JSON.parse(await typed('ask', 'ls', '--status', 'all', '--json')) as { asks: object[] };
  expect(asks).toMatchObject([
    { agent_id: 'reviewer_agent', verdict: { decision: 'answered', option: 'yes' } },
  ]);
  expect(Date.now() - start).toBeLessThan(MOST_MS);
}
