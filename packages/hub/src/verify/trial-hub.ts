import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { fieldsOf } from '@parley/protocol';
import { createClient } from '@parley/client';

import { issueToken } from '../auth/issue-token.ts';
import { loadConfig } from '../config/load.ts';
import type { TrialHome, Runtime } from './trial-home.ts';

export const WORKSPACE = 'verify';
/** It wakes nobody but whom a trial asks it to: the message of the trial would else race with that. */
const SETTINGS = {
  'wake.recheck_ms': 200,
  'wake.quiet_ms': 500,
  'wake.max_defer_ms': 60_000,
  'wake.on_call': false,
  'wake.any_version': true,
};
const TTL_MS = 3_600_000;
const COMMAND_MS = 120_000;

const run = promisify(execFile);

/** A real hub in a process and a folder of its own. */
export interface TrialHub {
  data: string;
  as(agent: string, role?: 'operator' | 'worker'): ReturnType<typeof createClient>;
  close(): Promise<void>;
}

/** A hub with nothing set, which can be killed and comes back at the same address. */
export interface PlainHub extends TrialHub {
  restart(): Promise<void>;
}

/** Starts this very program as a hub that nobody has configured. */
export async function openPlainHub(self: readonly string[], place: TrialHome): Promise<PlainHub> {
  const data = join(place.root, 'plain');
  let served = await serve(self, place, data, []);
  const port = new URL(served.url).port;
  return {
    data,
    as: callers(place, data, () => served.url),
    close: () => ended(served.child),
    async restart() {
      const exit = once(served.child, 'exit');
      served.child.kill('SIGKILL');
      await exit;
      served = await serve(self, place, data, ['--port', port]);
    },
  };
}

/** Starts this very program as a hub that has one agent for each kind of door. */
export async function openTrialHub(
  self: readonly string[],
  place: TrialHome,
  { runtime, bin, args }: { runtime: Runtime; bin: string; args: readonly string[] },
): Promise<TrialHub> {
  const data = join(place.root, 'data');
  const names = Object.keys(place.env).filter((name) =>
    /^(?:ANTHROPIC|CLAUDE|CODEX|DISABLE|IS|MCP)_/.test(name),
  );
  const common = { workspace: WORKSPACE, runtime, bin, cwd: place.work, home: place.home, env: names, args };
  const kinds = runtime === 'opencode' ? [] : ['live', 'resume', 'new'];
  const agents = kinds.map((door) => ({ ...common, agent: door, doors: [door] }));
  const settings = { ...SETTINGS, 'wake.agents': JSON.stringify(agents) };
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${String(value)}`]);
  const { url, child } = await serve(self, place, data, sets);
  return { data, as: callers(place, data, () => url), close: () => ended(child) };
}

/** Starts a hub and waits until it listens. */
async function serve(
  self: readonly string[],
  place: TrialHome,
  data: string,
  more: readonly string[],
): Promise<{ url: string; child: ChildProcess }> {
  const [command = '', ...words] = self;
  const child = spawn(command, [...words, 'serve', '--json', '--port', '0', '--data', data, ...more], {
    env: place.env,
    cwd: place.work,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
    once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`the trial hub ended with ${String(code)}`)),
    ),
  ]);
  const url = String(fieldsOf(JSON.parse(line))['url']);
  return { url, child };
}

/** Whoever calls that hub, under any name: a person unless said otherwise. */
function callers(place: TrialHome, data: string, url: () => string): TrialHub['as'] {
  const { config } = loadConfig({ data }, { XDG_CONFIG_HOME: place.root });
  return (agent, role = 'operator') => {
    const identity = { agent_id: agent, workspace_id: WORKSPACE, role, session_id: `${agent}-1` };
    const token = async (): Promise<string> =>
      (await issueToken(config, { ...identity, ttl_ms: TTL_MS }, Date.now())).token;
    return createClient({ url: url(), token });
  };
}

/** Runs one command of this very program to its end; throws what it said when it fails. */
export async function runSelf(
  self: readonly string[],
  place: TrialHome,
  args: readonly string[],
): Promise<void> {
  const [command = '', ...words] = self;
  await run(command, [...words, ...args], { env: place.env, cwd: place.work, timeout: COMMAND_MS });
}

/** Asks a process to end, and waits; one that will not is killed. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(timer);
}
