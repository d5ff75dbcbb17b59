import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { freshPath } from '../cli/parley.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type Person, type PersonOptions, sitDown, supervised } from './person.ts';

vi.setConfig({ testTimeout: 120_000 });
const BASH = '/bin/bash';
const bare = (): string[] => ['--data', freshPath()];

/** What a person sees and gets after the same keys, with the supervisor and without. */
async function bothWays(
  program: string[],
  act: (person: Person) => Promise<void>,
  options: PersonOptions = {},
): Promise<[with_: string[], without: string[]]> {
  const screens: string[][] = [];
  for (const words of [supervised(program, bare()), program]) {
    const person = await sitDown(words, options);
    await act(person);
    screens.push(await person.screen());
  }
  return screens as [string[], string[]];
}

const TOOLS = ['vim', 'less', 'htop', 'nano', 'tmux'] as const;
describeWith([...TOOLS], 'full-screen programs look the same', ({ vim, less, htop, nano, tmux }) => {
  test('vim: writing, a split window, a search, a resize', { timeout: 120_000 }, async () => {
    const folder = freshPath('work');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'a.txt'),
      Array.from({ length: 60 }, (_, i) => `line ${i} äöü 漢字`).join('\n'),
    );
    const [seen, expected] = await bothWays(
      [vim, '-u', 'NONE', '-N', '-n', 'a.txt'],
      async (person) => {
        await person.sees('line 0');
        person.type(':set number\r');
        await person.sees(/^ +1 line 0/m);
        person.type('Onew first line\u001b');
        await person.sees('new first line');
        person.type('/line 40\r');
        await person.sees('line 40');
        person.type(':split\r');
        await person.sees(/a\.txt \[\+\][^]*a\.txt \[\+\]/);
        person.resize(90, 24);
        await person.sees(/a\.txt \[\+\]/);
        // Vim may draw its screen anew just after it has answered.
        await vi.waitFor(
          async () => {
            person.type(':set columns?\r');
            await person.sees('columns=90', 1_000);
          },
          { timeout: 40_000 },
        );
      },
      { cwd: folder },
    );
    expect(seen).toEqual(expected);
    expect(seen.length).toBeGreaterThan(20);
  });

  test('less: pages, and a search that is marked', { timeout: 120_000 }, async () => {
    const text = join(freshPath('.'), 'pages.txt');
    writeFileSync(text, Array.from({ length: 200 }, (_, i) => `page line ${i}`).join('\n'));
    const [seen, expected] = await bothWays([less, text], async (person) => {
      await person.sees('page line 5');
      person.type(' ');
      await person.sees('page line 50');
      person.type('/line 77\r');
      await person.sees('page line 80');
    });
    expect(seen).toEqual(expected);
  });

  test('nano: writing, and a search', { timeout: 120_000 }, async () => {
    const text = join(freshPath('.'), 'nano.txt');
    writeFileSync(text, Array.from({ length: 90 }, (_, i) => `nano line ${i} äöü 漢字`).join('\n'));
    const [seen, expected] = await bothWays([nano, '--ignorercfiles', text], async (person) => {
      await person.sees('nano line 5');
      person.type('typed first\r');
      await person.sees(/^typed first$/m);
      person.type('\u0017line 77\r');
      await person.sees('nano line 77');
    });
    expect(seen).toEqual(expected);
  });

  test('tmux within: two panes, and what is typed into each', { timeout: 120_000 }, async () => {
    const settings = join(freshPath('.'), 'tmux.conf');
    const shell = `set -g default-command "PS1='pane> ' ${BASH} --norc"`;
    writeFileSync(settings, `set -g status off\nset -g assume-paste-time 0\n${shell}\n`);
    const server = ['-L', `parley-test-${process.pid}`, '-f', settings];
    onTestFinished(() => void execFileSync(tmux, [...server, 'kill-server']));
    const [seen, expected] = await bothWays([tmux, ...server, 'new'], async (person) => {
      await person.sees('pane>');
      person.type('echo first-$((1 + 1))\r');
      await person.sees('first-2');
      person.type('\u0002%');
      await person.sees(/pane>.*│pane>/);
      person.type('echo second-$((2 + 2))\r');
      await person.sees('second-4');
      await person.sees(/│pane> *$/m);
    });
    expect(seen).toEqual(expected);
  });

  test('htop: its help', { timeout: 120_000 }, async () => {
    const [seen, expected] = await bothWays(
      [htop],
      async (person) => {
        await person.sees('Quit');
        person.type('h');
        await person.sees('Press any key to return.');
      },
      { rows: 40 },
    );
    expect(seen).toEqual(expected);
  });

  test('Ctrl-Z goes back to the shell, and fg comes back to the program', { timeout: 120_000 }, async () => {
    const folder = freshPath('work');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.txt'), 'the text of the file\n');
    const person = await sitDown([BASH, '--norc', '-i'], { cwd: folder, env: { PS1: 'outer> ' } });
    await person.sees('outer>');
    const words = supervised([vim, '-u', 'NONE', 'a.txt'], bare()).map((word) => `'${word}'`);
    person.type(`stty -g > before; ${words.join(' ')}\r`);
    await person.sees(/^~/m);
    expect(person.modes().otherScreen).toBe(true);
    person.type('\u001a');
    await person.sees('Stopped');
    expect(person.modes().otherScreen).toBe(false);
    person.type('stty -g > between; cmp before between && echo the same\r');
    await person.sees(/^the same/m);
    person.type('fg\r');
    await person.sees(/^~/m);
    await person.sees('the text of the file');
    person.type(':q!\r');
    await person.sees(/outer> $|outer>$/m);
    person.type('echo "left $?"; stty -g > after; cmp before after && echo as ever\r');
    await person.sees('left 0');
    await person.sees(/^as ever/m);
  });
});

describe('the way of a program', () => {
  test('its bytes come through unchanged, and so do a person’s', { timeout: 60_000 }, async () => {
    const script = [
      String.raw`printf '\033[38;2;1;2;3mcolour\033[0m \033]8;;http://x\007link\033]8;;\007 \377\376\200 \033[?1003h\033[?2004h'`,
      'stty raw -echo',
      'echo ready',
      'head -c 29 | od -An -tx1',
      'stty size',
    ].join('; ');
    const person = await sitDown(supervised([BASH, '-c', script], bare()), { cols: 77, rows: 21 });
    await person.sees('ready');
    expect(person.raw()).toContain(
      '\u001b[38;2;1;2;3mcolour\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007 \xff\xfe\x80 \u001b[?1003h\u001b[?2004h',
    );
    person.type('\u001b[<0;10;5M\u001b[200~p\u001b[201~\u0003\u001a\u001c\u0011ä');
    await person.sees('21 77');
    const bytes = Buffer.from('\u001b[<0;10;5M\u001b[200~p\u001b[201~\u0003\u001a\u001c\u0011ä');
    // A raw program's line feed stays one, so that its lines stand below each other, not at the left.
    const shown =
      person
        .raw()
        .match(/\b[0-9a-f]{2}\b/g)
        ?.join('') ?? '';
    expect(shown).toContain(bytes.toString('hex'));
  });

  test.each([
    ['its exit code', 'exit 7', { code: 7, signal: null }],
    ['a signal that ends it', 'kill -TERM $$', { code: 0, signal: 'SIGTERM' }],
    ['a signal that cannot be caught', 'kill -KILL $$', { code: 0, signal: 'SIGKILL' }],
  ])('%s is passed on', async (_name, script, end) => {
    const person = await sitDown(supervised([BASH, '-c', script], bare()));
    expect(await person.exited).toMatchObject(end);
  });

  test('Ctrl-C interrupts the program, not the supervisor', async () => {
    const script = 'trap "echo caught; exit 3" INT; echo ready; while :; do sleep 1; done';
    const person = await sitDown(supervised([BASH, '-c', script], bare()));
    await person.sees('ready');
    person.type('\u0003');
    expect(await person.exited).toEqual({ code: 3, signal: null });
    expect((await person.screen()).join('\n')).toContain('caught');
  });

  test('SIGTERM and SIGHUP to the supervisor end the program, and the terminal is given back', async () => {
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      const shell = await sitDown([BASH, '--norc', '-i'], { env: { PS1: 'outer> ' } });
      await shell.sees('outer>');
      const script = String.raw`printf '\033[?1049h\033[?25l\033[?2004h\033[?1000h'; echo $PPID in; exec sleep 1000`;
      const words = supervised([BASH, '-c', script], bare()).map((word) => `'${word}'`);
      shell.type(
        `old=$(stty -g); ${words.join(' ')}; echo "ended $?"; [ "$(stty -g)" = "$old" ] && echo as ever\r`,
      );
      await shell.sees(/\d+ in/);
      const pid = Number(/(\d+) in/.exec((await shell.screen()).join('\n'))?.[1]);
      process.kill(pid, signal);
      await shell.sees(signal === 'SIGTERM' ? 'ended 143' : 'ended 129');
      await shell.sees(/^as ever/m);
      expect([shell.modes().otherScreen, shell.modes().isOn(1000), shell.modes().isOn(25)]).toEqual([
        false,
        false,
        true,
      ]);
    }
  });

  test('no token of ours reaches the program', async () => {
    const person = await sitDown(
      supervised([BASH, '-c', 'tr "\\0" "\\n" < /proc/$$/environ | grep -a PARLEY; echo over'], bare()),
      { env: { PARLEY_TOKEN: 'canary-token', PARLEY_AGENT: 'me', PARLEY_URL: 'http://127.0.0.1:9' } },
    );
    await person.sees('over');
    expect(person.raw()).toContain('PARLEY_AGENT=me');
    expect(person.raw()).toContain('PARLEY_SUPERVISED=1');
    expect(person.raw()).not.toContain('canary');
  });
});
