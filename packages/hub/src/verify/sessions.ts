import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { DoorName } from '@parley/core';
import { writeNew } from '@parley/files';
import {
  codexSocket,
  findProgram,
  openLiveCodex,
  openPty,
  startClaudePrint,
  startCodexExec,
} from '@parley/runtimes';
import { openScreen } from '@parley/runtimes/screen';

import { claudeHooks } from '../wake/claude-hooks.ts';
import type { TrialHome, Runtime } from './trial-home.ts';
import { ended, type TrialHub, WORKSPACE } from './trial-hub.ts';
import { until } from './until.ts';

export interface Trial {
  place: TrialHome;
  hub: TrialHub;
  bin: string;
  /** This program, as words to start it with. */
  self: readonly string[];
}

/** A session that is ready to be woken through one door: whose it is, and how it is cleared away. */
export interface Ready {
  agent: string;
  close?(): Promise<void>;
}

type Prepare = (trial: Trial) => Promise<Ready>;

/** How each door gets a session behind it, in the order of the ladder. */
export const TRIALS: Record<Runtime, Partial<Record<DoorName, Prepare>>> = {
  codex: {
    managed: (trial) => headless(trial, []),
    supervisor: (trial) => atTerminal(trial, [trial.bin]),
    codex_socket: openCodexServer,
    codex_resume: async (trial) => resumable(trial, 'codex_cli', (await firstCodexTurn(trial)).sessionId),
    codex_new: async () => ({ agent: 'new' }),
  },
  claude: {
    managed: (trial) => headless(trial, ['--permission-mode', 'default']),
    supervisor: (trial) => atTerminal(trial, [trial.bin, '--permission-mode', 'default']),
    command: openClaudeSession,
    claude_hook: openHookedClaude,
    claude_resume: async (trial) => resumable(trial, 'claude_code', await firstClaudeTurn(trial)),
    claude_new: async () => ({ agent: 'new' }),
  },
  opencode: {
    managed: (trial) => headless(trial, ['acp']),
    supervisor: (trial) => atTerminal(trial, [trial.bin]),
  },
};

async function resumable({ hub }: Trial, runtime: string, native_session_id: string): Promise<Ready> {
  await hub.as('resume').heartbeat_session({ runtime, status: 'idle', resumable: true, native_session_id });
  return { agent: 'resume' };
}

async function firstCodexTurn({ place, bin }: Trial): Promise<{ sessionId: string }> {
  const turn = await startCodexExec({ bin, env: place.env, cwd: place.work, prompt: 'a first turn' });
  const session = await turn.started;
  await turn.ended;
  return session;
}

async function firstClaudeTurn({ place, bin }: Trial): Promise<string> {
  const sessionId = randomUUID();
  const turn = await startClaudePrint({
    bin,
    env: place.env,
    cwd: place.work,
    prompt: 'a first turn',
    sessionId,
  });
  await turn.started;
  await turn.ended;
  return sessionId;
}

/** Under `parley run`, at a terminal with nobody before it. */
async function atTerminal({ place, hub, self }: Trial, program: readonly string[]): Promise<Ready> {
  const [command = '', ...words] = self;
  const options = ['--agent', 'terminal', '--workspace', WORKSPACE, '--data', hub.data, '--quiet', '500ms'];
  const file = findProgram(command, place.env, place.work);
  const close = await openTerminal(place, file, [...words, 'run', ...options, '--', ...program]);
  await until('the supervisor is connected', () => takes(hub, 'terminal', 'terminal_deliver'));
  return { agent: 'terminal', close };
}

/** Under `parley run --managed`, without a terminal. */
export async function headless({ place, hub, bin, self }: Trial, args: readonly string[]): Promise<Ready> {
  const [command = '', ...words] = self;
  const options = ['--agent', 'managed', '--workspace', WORKSPACE, '--data', hub.data];
  const any = { PARLEY_WAKE_ANY_VERSION: 'true' };
  const child = spawn(command, [...words, 'run', '--managed', ...options, '--', bin, ...args], {
    env: { ...place.env, ...any },
    cwd: place.work,
    stdio: 'ignore',
  });
  try {
    await until('the session is connected', async () => {
      if (child.exitCode !== null) throw new Error('this version cannot be run without a terminal');
      return takes(hub, 'managed', 'session_deliver');
    });
    return { agent: 'managed', close: () => ended(child) };
  } catch (error) {
    await ended(child);
    throw error;
  }
}

/** The server behind an open Codex, as its own daemon would be, but one that ends with the trial. */
export async function startCodexServer({
  place,
  bin,
}: Pick<Trial, 'place' | 'bin'>): Promise<{ socket: string; close: () => Promise<void> }> {
  const socket = codexSocket(place.home);
  await mkdir(dirname(socket), { recursive: true });
  const { env, work: cwd } = place;
  const server = spawn(bin, ['app-server', '--listen', `unix://${socket}`], { env, cwd, stdio: 'ignore' });
  const close = (): Promise<void> => ended(server);
  try {
    await until('the socket is there', async () => {
      if (server.exitCode !== null) throw new Error('this Codex has no app-server that listens on a socket');
      return existsSync(socket);
    });
    return { socket, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** That server, and one thread in it. */
async function openCodexServer({ place, hub, bin }: Trial): Promise<Ready> {
  const { socket, close } = await startCodexServer({ place, bin });
  try {
    const owner = await openLiveCodex({
      socket,
      clientInfo: { name: 'parley-verify', version: '0' },
      requestMs: 20_000,
    });
    const native_session_id = await owner.startThread(place.work);
    await hub.as('live').heartbeat_session({ runtime: 'codex_cli', resumable: true, native_session_id });
    return {
      agent: 'live',
      async close() {
        owner.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A Claude Code that stays open and has started our MCP server, which knows its inbox. */
async function openClaudeSession({ place, hub, bin, self }: Trial): Promise<Ready> {
  const [command = '', ...words] = self;
  const args = [...words, 'mcp', '--agent', 'inbox', '--workspace', WORKSPACE, '--data', hub.data];
  const config = join(place.root, 'mcp.json');
  await writeNew(config, JSON.stringify({ mcpServers: { parley: { type: 'stdio', command, args } } }));
  const mode = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  const child = spawn(bin, [...mode, '--strict-mcp-config', '--mcp-config', config], {
    env: place.env,
    cwd: place.work,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const message = { role: 'user', content: 'a first turn' };
  child.stdin.write(`${JSON.stringify({ type: 'user', message })}\n`);
  const close = (): Promise<void> => ended(child);
  try {
    await until('the session is connected', () => takes(hub, 'inbox', 'wake'));
    return { agent: 'inbox', close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A Claude Code at a terminal with our hook, and no MCP server of ours. */
async function openHookedClaude({ place, hub, bin, self }: Trial): Promise<Ready> {
  const words = [...self, 'mcp', '--agent', 'hook', '--workspace', WORKSPACE, '--data', hub.data];
  const settings = join(place.root, 'hooks.json');
  await writeNew(settings, JSON.stringify({ hooks: claudeHooks(words, 'parley') }));
  const args = ['--permission-mode', 'default', '--strict-mcp-config', '--settings', settings];
  const close = await openTerminal(place, bin, args);
  try {
    await until('the hook waits', async () => {
      const { sessions } = await hub.as('asker').list_sessions({ of_agent: 'hook' });
      return sessions.length > 0;
    });
    return { agent: 'hook', close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs a program at a terminal with nobody before it; returns how to end it. */
export async function openTerminal(
  place: TrialHome,
  file: string,
  args: string[],
): Promise<() => Promise<void>> {
  const size = { cols: 100, rows: 30 };
  const screen = openScreen({ ...size, answers: true, reply: (text) => pty.write(text) });
  const pty = await openPty({
    ...size,
    file,
    args,
    env: place.env,
    cwd: place.work,
    onOutput: (bytes) => screen.write(bytes),
  });
  return async () => {
    if (!pty.ended) process.kill(pty.pid, 'SIGTERM');
    await pty.exited;
  };
}

async function takes(hub: TrialHub, agent: string, command: string): Promise<boolean> {
  const found = await hub
    .as('asker')
    .get_agent({ of_agent: agent })
    .catch(() => undefined);
  return found !== undefined && found.connected.length > 0 && found.capabilities.includes(command);
}
