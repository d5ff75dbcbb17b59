import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { atFileEnd } from './at-file-end.ts';
import { NATS, onPostgres, prepareStore } from './store-profile.ts';
import { recordTraffic } from './traffic.ts';

/** The real binary, as people start it. */
export const PARLEY = fileURLToPath(new URL('../../packages/hub/bin/parley.mjs', import.meta.url));

export interface HubOptions {
  /** The data folder; a fresh one when left out. */
  data?: string;
  /** Configuration by its dotted names. */
  settings?: Record<string, string | number | boolean>;
  flags?: readonly string[];
  env?: Record<string, string>;
  /** Another build of the hub than this one. */
  program?: string;
  /** A command that runs the hub: faketime, strace, setpriv … */
  wrapper?: readonly string[];
  readyMs?: number;
}

/** A running hub of its own process, or of several behind one address, and what it said. */
export interface HubProcess {
  url: string;
  /** Of the hub itself, also under a wrapper; of several nodes the first. */
  pid: number;
  /** Of every node. */
  pids: readonly number[];
  data: string;
  /** Where it is on the local network, under `--lan`. */
  lan?: { url: string; named: string; setup: string; fingerprint: string };
  stderr(): string;
  ended(): boolean;
  /** Asks it to stop and waits; the exit code. */
  stop(): Promise<number | null>;
  /** Ends it without warning and waits. */
  kill(): Promise<void>;
}

/** An empty data folder that does not exist yet, inside a fresh folder. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-hub-'));
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'data');
}

/** The environment of a hub: nothing of the tester's own configuration leaks in. */
export function cleanEnv(data: string, extra: Record<string, string> = {}): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, HOME: join(data, '..'), NODE_NO_WARNINGS: '1', ...extra };
}

/** What the nodes of a hub have said so far, in whole lines. */
export interface SaidLines {
  text: string;
}

/** Starts one `parley serve` on a free port and waits for its ready line; throws what it said when it does not come up. */
export async function startNode(
  options: HubOptions & { data: string },
  said: SaidLines = { text: '' },
): Promise<HubProcess> {
  const { data, settings = {}, flags = [], env = {}, program = PARLEY, wrapper = [] } = options;
  const { readyMs = onPostgres ? 60_000 : 20_000 } = options;
  await prepareStore(data);
  // It is started where its folder will be, which may be deep in an empty home.
  mkdirSync(join(data, '..'), { recursive: true });
  // Whatever a test asks for, each answer is held against its contract.
  const usual = { check_answers: true, ...(NATS === '' ? {} : { nats: NATS }) };
  const set = Object.entries({ ...usual, ...settings }).flatMap(([key, value]) => [
    '--set',
    `${key}=${String(value)}`,
  ]);
  const serve = [program, 'serve', '--json', '--port', '0', '--data', data, ...flags, ...set];
  const traffic = recordTraffic();
  const [command = '', ...args] = [...wrapper, process.execPath, ...traffic.args, ...serve];
  const child = spawn(command, args, {
    env: cleanEnv(data, { ...traffic.env, ...env }),
    cwd: join(data, '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  let begun = '';
  const tell = (text: string): void => {
    const end = text.lastIndexOf('\n') + 1;
    said.text += begun + text.slice(0, end);
    begun = (end === 0 ? begun : '') + text.slice(end);
  };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    tell(text);
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const ready = await readyLine(child, exit, readyMs, () => stderr);
  // A test that fails halfway leaves nothing behind.
  let running = true;
  void exit.then(() => (running = false));
  atFileEnd(() => {
    if (running) signal(ready.pid, 'SIGKILL');
  });
  return {
    url: ready.url,
    pid: ready.pid,
    pids: [ready.pid],
    data,
    ...(ready.lan === undefined ? {} : { lan: ready.lan }),
    stderr: () => said.text + begun,
    ended: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      signal(ready.pid, 'SIGTERM');
      return exit;
    },
    async kill() {
      signal(ready.pid, 'SIGKILL');
      await exit;
    },
  };
}

type Ready = Pick<HubProcess, 'url' | 'pid' | 'lan'>;

function readyLine(
  child: ChildProcess,
  exit: Promise<number | null>,
  timeoutMs: number,
  stderr: () => string,
): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let stdout = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the hub was not ready in ${timeoutMs} ms: ${stdout}${stderr()}`));
    }, timeoutMs);
    child.once('error', reject);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (!stdout.includes('\n')) return;
      // Whoever knows the port may call before the hub says that it is ready, and that is told first.
      const lines = stdout.split('\n').slice(0, -1);
      const line = lines
        .map((one) => JSON.parse(one) as Ready & { ready?: boolean })
        .find(({ ready }) => ready === true);
      if (line === undefined) return;
      clearTimeout(timer);
      resolve(line);
    });
    void exit.then((code) => {
      clearTimeout(timer);
      reject(new HubRefused(code, stdout, stderr()));
    });
  });
}

/** The hub ended instead of becoming ready. */
export class HubRefused extends Error {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;

  constructor(code: number | null, stdout: string, stderr: string) {
    super(`the hub ended with ${code}: ${stdout}${stderr}`);
    this.code = code;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
