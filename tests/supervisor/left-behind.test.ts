import { randomUUID } from 'node:crypto';

import { expect, onTestFinished, test, vi } from 'vitest';

import { freshPath } from '../cli/parley.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type AgentTerminal, prepareClaude, prepareCodex } from './agent-terminals.ts';
import { sitDown, supervised } from './person.ts';
import { MARK, running } from './session-processes.ts';
import { underScript } from './three-ways.ts';

vi.setConfig({ testTimeout: 120_000 });
const PATIENCE = { timeout: 40_000, interval: 100 };
const SHELL = ['/bin/bash', '--norc', '-i'];

interface Session {
  program: string[];
  /** What is typed, each after the one before it is seen to run. */
  keys?: [typed: string, runs: string][];
  env?: Record<string, string>;
  cwd?: string;
  ready?: RegExp;
}

/** What is left of a session, under script(1) and under the supervisor, after either was killed outright. */
async function leftAfterKill(session: Session, left: string[]): Promise<void> {
  const { program, keys = [], env = {}, cwd, ready = /ready>/ } = session;
  const ways = [underScript(program), supervised(program, ['--data', freshPath()])];
  for (const words of ways) {
    const mark = randomUUID();
    const clear = (): void => running(mark).forEach(({ pid }) => process.kill(pid, 'SIGKILL'));
    onTestFinished(clear);
    const place = cwd === undefined ? {} : { cwd };
    const person = await sitDown(words, { env: { PS1: 'ready> ', ...env, [MARK]: mark }, ...place });
    await person.sees(ready);
    for (const [typed, runs] of keys) {
      person.type(typed);
      await expect.poll(() => running(mark).map(({ line }) => line), PATIENCE).toContain(runs);
    }
    person.signal('SIGKILL');
    await person.exited;
    const names = (): string[] =>
      running(mark)
        .map(({ line }) => line)
        .toSorted();
    await expect.poll(names, { ...PATIENCE, message: words[0] ?? '' }).toEqual(left);
    clear();
  }
}

const jobs: [what: string, session: Session, left: string[]][] = [
  ['background jobs of a shell', { program: SHELL, keys: [['sleep 1001 &\r', 'sleep 1001']] }, []],
  [
    'one of them under nohup stays',
    { program: SHELL, keys: [['sleep 1001 & nohup sleep 1002 >/dev/null 2>&1 &\r', 'sleep 1002']] },
    ['sleep 1002'],
  ],
  [
    'one with a session of its own stays',
    { program: SHELL, keys: [['setsid sleep 1003 &\r', 'sleep 1003']] },
    ['sleep 1003'],
  ],
  [
    'a stopped job',
    {
      program: SHELL,
      keys: [
        ['sleep 1004\r', 'sleep 1004'],
        ['\u001asleep 1005 &\r', 'sleep 1005'],
      ],
    },
    [],
  ],
  [
    'a program that ignores the hang-up stays',
    { program: ['/bin/bash', '-c', 'trap "" HUP; echo "ready>"; exec sleep 1006'] },
    ['sleep 1006'],
  ],
  [
    'what a script has put under nohup stays',
    { program: ['/bin/bash', '-c', 'nohup sleep 1007 >/dev/null 2>&1 & echo "ready>"; sleep 1008'] },
    ['sleep 1007'],
  ],
];

test.each(jobs)('a killed supervisor leaves what script(1) leaves: %s', async (_what, session, left) => {
  await leftAfterKill(session, left);
});

describeWith(['tmux', 'codex', 'claude'], 'a killed supervisor leaves what script(1) leaves', ({ tmux }) => {
  test('tmux within: its server and what runs there stay', async () => {
    const server = `parley-left-${process.pid}`;
    const program = [tmux, '-L', server, '-f', '/dev/null', 'new', 'exec sleep 1009'];
    const session = { program, env: { SHELL: '/bin/sh' }, ready: /\[0\]/ };
    await leftAfterKill(session, [program.join(' '), 'sleep 1009']);
  });

  const agents: [name: string, prepare: () => Promise<AgentTerminal>, ready: RegExp][] = [
    ['Codex', () => prepareCodex('codex'), /^› Ask Codex/m],
    ['Claude Code', prepareClaude, /^❯\s*$/m],
  ];
  test.each(agents)('%s: nothing', async (_name, prepare, ready) => {
    const { program, env, cwd } = await prepare();
    await leftAfterKill({ program, env, cwd, ready }, []);
  });
});
