import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { atFileEnd } from '../harness/at-file-end.ts';
import { startHub as startShared } from '../harness/start-hub.ts';
import { issueToken as issueFrom } from '../harness/tokens.ts';

/** The built program, as a stranger runs it. */
export const PARLEY = fileURLToPath(new URL('../../packages/hub/bin/parley.mjs', import.meta.url));

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
  script?: string;
}

/** An environment without anything of the person who runs the tests. */
export function bareEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: emptyHome(), TZ: 'UTC', ...extra };
}

/** Runs one command line to its end. */
export async function parley(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawn(process.execPath, [options.script ?? PARLEY, ...args], {
    env: bareEnvironment(options.env),
    cwd: options.cwd,
  });
  const ran: Ran = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.stderr += text));
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...ran, code };
}

/** Runs a command line that must succeed and gives back its JSON document. */
export async function parleyJson<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
  const { code, stdout, stderr } = await parley([...args, '--json'], options);
  if (code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface TestHub {
  url: string;
  pid: number;
  data: string;
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** A path that is not there yet, in a folder that goes away after the tests of the file. */
export function freshPath(name = 'data'): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'));
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, name);
}

let home: string | undefined;
function emptyHome(): string {
  if (home === undefined) atFileEnd(() => (home = undefined));
  home ??= freshPath('.');
  return home;
}

/** Starts a hub as a stranger does and waits for its ready line. */
export async function startHub(data = freshPath(), flags: readonly string[] = []): Promise<TestHub> {
  const hub = await startShared({ data, flags, env: bareEnvironment() });
  return {
    url: hub.url,
    pid: hub.pid,
    data,
    async stop(signal = 'SIGTERM') {
      await (signal === 'SIGKILL' ? hub.kill() : hub.stop());
    },
  };
}

/** A token from the data folder. */
export async function issueToken(
  data: string,
  agent: string,
  role = 'worker',
  session = `${agent}-cli`,
  workspace = 'default',
): Promise<string> {
  return (await issueFrom({ agent, role, workspace, session }, { data })).token;
}
