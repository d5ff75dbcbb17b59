import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test, vi } from 'vitest';

import { bareEnvironment, freshPath, PARLEY } from '../cli/parley.ts';
import { sitDown, supervised } from './person.ts';

vi.setConfig({ testTimeout: 60_000 });
const BASH = '/bin/bash';
const bare = (): string[] => ['--data', freshPath()];
/** Our own line about the missing hub stands before it. */
const BEGIN = 'here it begins';

/** The same program plainly, under script(1) and under the supervisor. */
function threeWays(program: string): [name: string, words: string[]][] {
  return [
    ['plain', [BASH, '-c', program]],
    ['script', ['script', '-qec', program, '/dev/null']],
    ['parley', supervised([BASH, '-c', program], bare())],
  ];
}

describe('every byte of output is the program’s own', () => {
  const folder = freshPath('outputs');
  mkdirSync(folder, { recursive: true });
  const all = join(folder, 'all-bytes');
  writeFileSync(all, Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 7) & 0xff)));
  const programs: Record<string, string> = {
    'lines, as a terminal prints them': 'seq 1 200',
    'bare line feeds of a raw program': String.raw`stty raw; printf 'one\ntwo\r\nthree\n'; stty sane`,
    'every value of a byte': `stty raw; cat ${all}; stty sane`,
    'a binary, treated as text': 'head -c 30000 /bin/true',
    'broken and unknown sequences': String.raw`printf '\033[9999999999;1x\033]1337;File=:\007\033Pzz\033\\\033[1;2;3\033_a\033\\ end\n'`,
    'a flood of lines': 'seq 1 60000',
    'colours and marks of Unicode': String.raw`printf '\033[38:2::1:2:3mäöü 漢字 👩‍💻\033[0m\n'`,
  };
  test.each(Object.entries(programs))('%s', async (_what, program) => {
    const outputs: Record<string, string> = {};
    for (const [name, words] of threeWays(`printf '${BEGIN}'; ${program}`)) {
      const person = await sitDown(words, { cols: 80, rows: 24 });
      await person.exited;
      outputs[name] = person.raw().slice(person.raw().indexOf(BEGIN));
    }
    expect(outputs['plain']!.length).toBeGreaterThan(BEGIN.length + 5);
    expect(outputs['parley']).toBe(outputs['plain']);
    expect(outputs['script']).toBe(outputs['plain']);
  });
});

describe('a paste', () => {
  const paste = 'a line of the paste\n'.repeat(5_000);

  test('into a program that does not read costs nothing, and ends with the program', async () => {
    const person = await sitDown(supervised([BASH, '-c', 'stty raw; echo ready; sleep 2; exit 4'], bare()));
    await person.sees('ready');
    person.type(paste);
    await sleep(200);
    const before = [cpuMs(person.pid), writes(person.pid)] as const;
    await sleep(1_000);
    expect(cpuMs(person.pid) - before[0]).toBeLessThan(300);
    // A loop of failing writes shows in their number, also where the machine has no time to spare for it.
    expect(writes(person.pid) - before[1]).toBeLessThan(200);
    expect(await person.exited).toEqual({ code: 4, signal: null });
  });

  test('arrives whole when the program reads at last', async () => {
    const program = `stty raw -echo; echo ready; sleep 1; head -c ${paste.length} | md5sum`;
    const person = await sitDown(supervised([BASH, '-c', program], bare()));
    await person.sees('ready');
    person.type(paste);
    await person.exited;
    const expected = execFileSync('md5sum', { input: paste, encoding: 'utf8' }).slice(0, 32);
    expect(person.raw()).toContain(expected);
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)('never keeps %s from ending it', async (signal) => {
    const person = await sitDown(supervised([BASH, '-c', 'stty raw; echo ready; exec sleep 100'], bare()));
    await person.sees('ready');
    person.type(paste);
    await sleep(200);
    person.signal(signal);
    expect(await person.exited).toMatchObject({ signal });
  });
});

test('a program that is killed leaves no mode on', async () => {
  const ESC = '\u001b';
  const modes = [
    1, 5, 9, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1049, 2004, 2026, 2027, 2031, 2048,
  ];
  /** What it switches on, and what a terminal must be told so that it is off: written out, whatever our own table says. */
  const switches: [on: string, off: string][] = [
    ...modes.map((mode): [string, string] => [`[?${mode}h`, `[?${mode}l`]),
    ['[?7l', '[?7h'],
    ['[?25l', '[?25h'],
    ['[4h', '[4l'],
    ['[20h', '[20l'],
    ['[>1u', '[<'],
    ['[>4;2m', '[>4m'],
    ['=', '>'],
    ['[5 q', '[0 q'],
    ['[31m', '[0m'],
    ['(0', '(B'],
    ['[5;10r', '[r'],
    [']8;;http://x.example\\007', ']8;;'],
  ];
  const on = switches.map(([sequence]) => String.raw`\033${sequence}`).join('');
  const script = `printf '${on}'; echo ready; kill -KILL $$`;
  const person = await sitDown(supervised([BASH, '-c', script], bare()));
  expect(await person.exited).toMatchObject({ signal: 'SIGKILL' });
  await person.sees('nobody can reach');
  const after = person.raw().slice(person.raw().indexOf('ready'));
  expect(switches.filter(([, off]) => !after.includes(`${ESC}${off}`))).toEqual([]);
  // What a terminal with nothing switched on would still be told: plain letters and colours.
  expect(person.modes().off()).toBe(`${ESC}(B\u000f${ESC}[0m`);
  expect(person.raw()).toContain(`${ESC}[?2031h`);
});

describe('between pipes', () => {
  const run = (words: string[], input: Buffer | string = '') =>
    spawnSync(process.execPath, [PARLEY, 'run', ...bare(), '--', ...words], {
      env: bareEnvironment(),
      input,
      maxBuffer: 64 * 1024 * 1024,
    });

  test('input, output and errors pass apart from each other, byte for byte', () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 31) & 0xff));
    const { stdout, stderr, status } = run([BASH, '-c', 'cat; printf "to the errors\\n" >&2; exit 9'], bytes);
    expect(stdout.equals(bytes)).toBe(true);
    expect(stderr.toString()).toBe('to the errors\n');
    expect(status).toBe(9);
  });

  test('a signal that ends the program ends us', () => {
    expect(run([BASH, '-c', 'kill -TERM $$'])).toMatchObject({ signal: 'SIGTERM' });
  });

  test('a missing program is 127, one that cannot be executed 126', () => {
    const file = join(freshPath('.'), 'no-program');
    writeFileSync(file, 'text');
    chmodSync(file, 0o644);
    const missing = run(['no-such-program']);
    expect([missing.status, missing.stderr.toString()]).toEqual([
      127,
      'parley: there is no program no-such-program\n',
    ]);
    const closed = run([file]);
    expect([closed.status, closed.stderr.toString()]).toEqual([126, `parley: ${file} cannot be executed\n`]);
  });
});

/** How much of a processor a process has used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** How many writes a process has tried. */
function writes(pid: number): number {
  return Number(/syscw: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
