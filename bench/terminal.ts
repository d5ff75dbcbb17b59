import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openPty, type Pty } from '@parley/runtimes';

import { BIN, startHub } from './hub-process.ts';
import { hold, line } from './report.ts';

const BEGIN = 'BEGIN-OF-IT';
const END = 'END-OF-IT';
const ROUNDS = 5;
const KEYS = 300;
const LINES = 430_000;

interface Run {
  /** From the first word of the program to the last byte. */
  flowMs: number;
  /** From the start to the first word of the program. */
  startMs: number;
}

/** A program under `parley run` beside the same under script(1), in turns. */
export async function benchTerminal(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const text = join(folder, 'text');
  const row = `${'0123456789abcdef'.repeat(7)}\n`;
  writeFileSync(text, row.repeat(LINES));
  const coloured = join(folder, 'coloured');
  writeFileSync(coloured, `\u001b[32m${row.slice(0, 40)}\u001b[0m${row.slice(49)}`.repeat(LINES));
  const run = (data: string, program: string): string[] => [
    process.execPath,
    BIN,
    'run',
    '--data',
    data,
    '--',
    '/bin/sh',
    '-c',
    program,
  ];
  const ways = {
    script: (program: string) => ['script', '-qec', program, '/dev/null'],
    parley: (program: string) => run(join(folder, 'data'), program),
  };
  type Way = keyof typeof ways;
  const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

  const hub = await startHub(join(folder, 'data'));
  try {
    const programs = { 'cat of 50 MB': `cat ${text}`, 'cat of 50 MB, coloured': `cat ${coloured}` };
    for (const [what, program] of Object.entries({
      ...programs,
      'yes | head -100000': 'yes | head -100000',
    })) {
      const runs: Record<Way, Run[]> = { script: [], parley: [] };
      for (let round = 0; round < ROUNDS; round++)
        for (const way of ['script', 'parley'] as const)
          runs[way].push(await flow(ways[way](marked(program))));
      const [script, parley] = (['script', 'parley'] as const).map((way) => ({
        flow: median(runs[way].map(({ flowMs }) => flowMs)),
        whole: median(runs[way].map(({ flowMs, startMs }) => flowMs + startMs)),
      })) as [{ flow: number; whole: number }, { flow: number; whole: number }];
      const times = (a: number, b: number): string => `${ms(b)} beside ${ms(a)}: ${(b / a).toFixed(2)}×`;
      line(what, `${times(script.flow, parley.flow)}; with the start ${times(script.whole, parley.whole)}`);
      hold('terminal.flow', parley.flow / script.flow, { what: `${what}, of script` });
    }

    const hello = `process.stdout.write('${BEGIN}${END}')`;
    const beginnings = {
      script: ways.script(marked(':')),
      node: [process.execPath, '-e', hello],
      'no hub': run(join(folder, 'none'), marked(':')),
      parley: ways.parley(marked(':')),
    };
    const starts = Object.fromEntries(Object.keys(beginnings).map((way) => [way, [] as number[]]));
    for (let round = 0; round < 2 * ROUNDS; round++)
      for (const [way, words] of Object.entries(beginnings)) starts[way]?.push((await flow(words)).startMs);
    const start = (way: keyof typeof beginnings): string => ms(median(starts[way] ?? []));
    line(
      'start',
      `${start('parley')} beside ${start('script')}, ${start('no hub')} without a hub; node alone ${start('node')}`,
    );
    hold('terminal.start', median(starts['parley'] ?? []));

    for (const way of ['script', 'parley'] as const) {
      const { p50, p99, residentMb } = await keys(ways[way](`stty raw -echo; printf ${BEGIN}; exec cat`));
      line(`key echo, ${way}`, `p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`);
      line(`resident, ${way}`, `${residentMb.toFixed(1)} MB`);
      if (way === 'script') continue;
      hold('terminal.echo', p50);
      hold('terminal.memory', residentMb);
    }
  } finally {
    await hub.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const ms = (value: number): string => `${value.toFixed(0)} ms`;
const marked = (program: string): string => `printf ${BEGIN}; ${program}; printf ${END}`;

async function open([file = '', ...args]: string[], onOutput: (bytes: Buffer) => void): Promise<Pty> {
  const path = file.startsWith('/') ? file : execFileSync('which', [file], { encoding: 'utf8' }).trim();
  const env = { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), TERM: 'xterm-256color' };
  return openPty({ file: path, args, env, cwd: tmpdir(), cols: 80, rows: 24, onOutput });
}

async function flow(words: string[]): Promise<Run> {
  const started = performance.now();
  let begun: number | undefined;
  let ended = 0;
  let tail = '';
  const pty = await open(words, (bytes) => {
    // The ends of the pieces are enough: the marks are short.
    tail = tail.slice(-END.length) + bytes.toString('latin1', 0, begun === undefined ? undefined : 0);
    if (begun === undefined && tail.includes(BEGIN)) begun = performance.now();
    tail += bytes.toString('latin1', Math.max(0, bytes.length - END.length));
    if (tail.endsWith(END)) ended = performance.now();
  });
  await pty.exited;
  if (begun === undefined || ended === 0) throw new Error(`the program did not run: ${words.join(' ')}`);
  return { flowMs: ended - begun, startMs: begun - started };
}

/** Types one key after the other, each when the one before has come back. */
async function keys(words: string[]): Promise<{ p50: number; p99: number; residentMb: number }> {
  let heard: () => void = () => {};
  let all = '';
  const pty = await open(words, (bytes) => {
    all += bytes.toString('latin1');
    heard();
  });
  const hears = async (isIt: () => boolean): Promise<void> => {
    while (!isIt()) await new Promise<void>((resolve) => (heard = resolve));
  };
  await hears(() => all.includes(BEGIN));
  const times: number[] = [];
  for (let i = 0; i < KEYS; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const before = all.length;
    const typed = performance.now();
    pty.write('x');
    await hears(() => all.length > before);
    times.push(performance.now() - typed);
  }
  const status = readFileSync(`/proc/${pty.pid}/status`, 'utf8');
  const residentMb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  pty.signal('SIGKILL');
  await pty.exited;
  const sorted = times.toSorted((a, b) => a - b);
  return { p50: sorted[KEYS >> 1] ?? NaN, p99: sorted[Math.floor(KEYS * 0.99)] ?? NaN, residentMb };
}
