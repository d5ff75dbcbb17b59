import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { createClient } from '@parley/client';

import { issueToken } from '../auth/issue-token.ts';
import { loadConfig } from '../config/load.ts';
import type { Place, Runtime } from './place.ts';

export const WORKSPACE = 'verify';
const HASTE = {
  'wake.recheck_ms': 200,
  'wake.quiet_ms': 500,
  'wake.max_defer_ms': 60_000,
  'wake.grace_ms': 60_000,
};
const TTL_MS = 3_600_000;

/** A real hub in a process and a folder of its own. */
export interface TrialHub {
  data: string;
  as(agent: string): ReturnType<typeof createClient>;
  close(): Promise<void>;
}

/** Starts this very program as a hub that has one agent for each kind of door. */
export async function openTrialHub(
  self: readonly string[],
  place: Place,
  { runtime, bin, args }: { runtime: Runtime; bin: string; args: readonly string[] },
): Promise<TrialHub> {
  const data = join(place.root, 'data');
  const names = Object.keys(place.env).filter((name) =>
    /^(?:ANTHROPIC|CLAUDE|CODEX|DISABLE|IS|MCP)_/.test(name),
  );
  const common = { workspace: WORKSPACE, runtime, bin, cwd: place.work, home: place.home, env: names, args };
  const kinds = runtime === 'opencode' ? [] : ['live', 'resume', 'new'];
  const agents = kinds.map((door) => ({ ...common, agent: door, doors: [door] }));
  const settings = { ...HASTE, 'wake.any_version': true, 'wake.agents': JSON.stringify(agents) };
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${String(value)}`]);
  const [command = '', ...words] = self;
  const child = spawn(command, [...words, 'serve', '--json', '--port', '0', '--data', data, ...sets], {
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
  const { url } = JSON.parse(line) as { url: string };
  const { config } = loadConfig({ data }, { XDG_CONFIG_HOME: place.root });
  return {
    data,
    as(agent) {
      const identity = {
        agent_id: agent,
        workspace_id: WORKSPACE,
        role: 'operator',
        session_id: `${agent}-1`,
      };
      const token = async (): Promise<string> =>
        (await issueToken(config, { ...identity, ttl_ms: TTL_MS }, Date.now())).token;
      return createClient({ url, token });
    },
    close: () => ended(child),
  };
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
