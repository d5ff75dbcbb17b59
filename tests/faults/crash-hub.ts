import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { issueToken } from '../../packages/hub/src/auth/issue-token.ts';
import { loadConfig } from '../../packages/hub/src/config/load.ts';
import { cleanEnv, PARLEY } from '../harness/start-hub.ts';
import { recordTraffic } from '../harness/traffic.ts';

export interface HubOptions {
  /** Configuration values, as `--set` takes them. */
  settings?: Record<string, string | number>;
  env?: Record<string, string>;
  /** A free one when left out. */
  port?: number;
  /** A command that runs the hub inside it, such as strace or a shell with limits. */
  inside?: readonly string[];
  /** How long the hub may take until it is ready or has ended. */
  patienceMs?: number;
}

/** A real hub that the tests may kill in any way; it never outlives its test. */
export interface CrashHub {
  url: string;
  /** The process that listens, not the one that wraps it. */
  pid: number;
  folder: string;
  startedInMs: number;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ending>;
  ended: Promise<Ending>;
  stderr(): string;
}

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A private folder that goes away with the test; what ended with an agent's program may still write its last in it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}

/** Starts the built hub on a folder; throws what it said when it ends before it is ready. */
export async function startHub(folder: string, options: HubOptions = {}): Promise<CrashHub> {
  const outcome = await tryHub(folder, options);
  if ('url' in outcome) return outcome;
  throw new Error(`the hub did not start: ${JSON.stringify(outcome)}`);
}

/** Starts the built hub where it may well fail: either it runs, or this is how it ended. */
export async function tryHub(folder: string, options: HubOptions = {}): Promise<CrashHub | Ending> {
  const { settings = {}, env = {}, inside = [], port = 0, patienceMs = 15_000 } = options;
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const traffic = recordTraffic();
  const [command = '', ...args] = [
    ...inside,
    process.execPath,
    ...traffic.args,
    PARLEY,
    'serve',
    '--json',
    '--data',
    folder,
    '--port',
    String(port),
    ...sets,
  ];
  const startedAt = performance.now();
  const child = spawn(command, args, {
    env: cleanEnv(folder, { ...traffic.env, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const ended = endOf(child, output);
  const patience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  const ready = await Promise.race([readyLine(child, output), ended]);
  clearTimeout(patience);
  if ('code' in ready) return ready;
  const { url, pid } = ready;
  // Killing what wraps the hub would leave the hub: the hub goes first, its wrapper follows.
  const signal = (name: NodeJS.Signals): void => {
    if (child.exitCode === null && child.signalCode === null) send(pid, name);
  };
  onTestFinished(async () => {
    signal('SIGKILL');
    await ended;
  });
  return {
    url,
    pid,
    folder,
    startedInMs: performance.now() - startedAt,
    signal,
    async end(name) {
      signal(name);
      return ended;
    },
    ended,
    stderr: () => output.stderr,
  };
}

interface Ready {
  url: string;
  pid: number;
}

function readyLine(child: ChildProcess, output: { stdout: string }): Promise<Ready> {
  return new Promise((resolve) => {
    child.stdout?.on('data', () => {
      const line = /^\{"ready":true.*\}$/m.exec(output.stdout)?.[0];
      if (line !== undefined) resolve(JSON.parse(line) as Ready);
    });
  });
}

async function endOf(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<Ending> {
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, ...output };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Signs a token by the key in the hub's folder; `now` may be a moment the hub's clock shows. */
export async function tokenFor(
  folder: string,
  agent: string,
  options: { role?: string; now?: number; ttlMs?: number; settings?: HubOptions['settings'] } = {},
): Promise<string> {
  const { config } = loadConfig({ data: folder, ...options.settings }, { XDG_CONFIG_HOME: folder });
  const { token } = await issueToken(
    config,
    {
      agent_id: agent,
      workspace_id: 'w',
      role: options.role ?? 'worker',
      session_id: `${agent}-1`,
      ttl_ms: options.ttlMs ?? 7 * 86_400_000,
    },
    options.now ?? Date.now(),
  );
  return token;
}
