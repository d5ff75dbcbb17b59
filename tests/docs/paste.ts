import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { bareEnvironment, freshPath, startHub, type TestHub } from '../cli/parley.ts';
import {
  answersOn,
  type Block,
  blocksOf,
  jsonIn,
  masked,
  maskedLines,
  ROOT,
  scriptOf,
  shownBy,
} from './page.ts';

/** A newcomer's machine: an empty home, an installed Parley and a hub that has just been started. */
export interface Newcomer {
  hub: TestHub;
  home: string;
  /** Pastes a script into a shell in an empty folder, or in the clone. */
  paste(script: string, options?: PasteOptions): Promise<{ code: number; output: string }>;
  /** Pastes a whole page, and holds what it shows against what came out. */
  follow(path: string, options?: PasteOptions): Promise<string>;
}

interface PasteOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Folders with programs that the page takes for granted. */
  programs?: string[];
  /** What stands on the page, and what it is here. */
  replaced?: Record<string, string>;
}

/** Starts a hub as a newcomer does; it ends with the file of the test at the latest. */
export async function openNewcomer(): Promise<Newcomer> {
  const { home, paste } = openMachine();
  const hub = await startHub(join(home, '.local/share/parley'));
  const { host } = new URL(hub.url);
  const here: Newcomer['paste'] = (script, options) =>
    paste(script.replaceAll('127.0.0.1:8620', host), options);
  return {
    hub,
    home,
    paste: here,
    async follow(path, options) {
      const { code, output } = await here(scriptOf(path), options);
      expect(code, `${path}\n${output}`).toBe(0);
      holdsShown(output, blocksOf(path));
      return output;
    },
  };
}

/** A newcomer's machine on which no hub runs yet. */
export function openMachine(): Pick<Newcomer, 'home' | 'paste'> {
  const home = freshPath('.');
  const paste: Newcomer['paste'] = async (script, options = {}) => {
    const { cwd = freshPath('work'), env = {}, programs = [], replaced = {} } = options;
    mkdirSync(cwd, { recursive: true });
    let text = script;
    for (const [shown, real] of Object.entries(replaced)) text = text.replaceAll(shown, real);
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', text], {
      cwd,
      // A shell that hears a socket takes it for a login from another machine.
      stdio: ['ignore', 'pipe', 'pipe'],
      env: bareEnvironment({
        ...env,
        HOME: home,
        // An installed Parley is on the PATH.
        PATH: [...programs, `${ROOT}node_modules/.bin`, process.env['PATH'] ?? ''].join(':'),
      }),
    });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    const [code] = (await once(shell, 'close')) as [number];
    return { code, output };
  };
  return { home, paste };
}

/** A line of which the page leaves out what stands as `…`; what curl fetched before it has no end of line. */
function lineAsShown(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`(?:^|\\})${parts.join('.*')}$`);
}

/** Everything that these blocks show as output came out. */
export function holdsShown(output: string, blocks: readonly Block[]): void {
  const lines = maskedLines(output);
  for (const line of shownBy(blocks))
    expect(lines, output).toContainEqual(expect.stringMatching(lineAsShown(line)));
  const answers = jsonIn(output).map(masked);
  for (const answer of answersOn(blocks)) expect(answers, output).toContainEqual(masked(answer));
}
