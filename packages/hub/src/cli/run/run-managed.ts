import { dirname, join } from 'node:path';

import { makeFolderSync } from '@parley/files';
import { logJson, ParleyError, errorText } from '@parley/protocol';
import {
  type ManagedServer,
  openManagedAcp,
  openManagedClaude,
  openManagedCodex,
  type OpenManaged,
  RuntimeError,
  versionOf,
} from '@parley/runtimes';
import { type ManagedNews, runManaged } from '@parley/supervisor';
import { WebSocket } from 'ws';
import * as z from 'zod';

import type { LoadedConfig } from '../../config/load.ts';
import { readPrivateFile, writePrivateFile } from '../../data-folder.ts';
import { SUPERVISED } from '../../supervised.ts';
import { VERSION } from '../../version.ts';
import { type ManagedRuntime, untried } from '../../wake/versions.ts';
import { ACP_PROGRAMS, acpArguments } from './acp-programs.ts';
import { createHubFinder, type SessionOptions } from '../hub-finder.ts';
import { ownServer } from './init/own-server.ts';
import { newsLines } from './managed-lines.ts';
import { EXIT, printLines, tell } from '../output.ts';
import { ownTokens } from '../../auth/own-tokens.ts';

export interface ManagedRun extends SessionOptions {
  file: string;
  program: string;
  args: readonly string[];
  env: Record<string, string>;
  agent: string;
  /** It speaks the Agent Client Protocol, whatever its name. */
  acp?: boolean;
  /** Begins a new session, whatever was kept. */
  new?: boolean;
  askTimeout?: number;
}

const RUNTIMES: Record<ManagedRuntime, OpenManaged> = { codex: openManagedCodex, claude: openManagedClaude };
const VERSION_MS = 20_000;
const ASK_MS = 3_600_000;

/** What is kept of a session, so that the next start goes on with it. */
const Kept = z.object({
  runtime: z.string(),
  // No runtime's own id begins like a flag.
  session_id: z.string().regex(/^[A-Za-z0-9][\w.:-]{0,199}$/),
  cwd: z.string(),
});

/** Runs an agent's program without a terminal until it ends or is told to; its approvals are asks at the hub. */
export async function runManagedProgram(
  loaded: LoadedConfig & { json: boolean },
  run: ManagedRun,
): Promise<void> {
  const { config, json } = loaded;
  const { agent, env, file } = run;
  const cwd = process.cwd();
  const { runtime, args, open } = await runtimeOf(run, config.wake.any_version);
  const path = join(config.data, 'managed', config.workspace, `${agent}.json`);
  const kept = run.new === true ? undefined : readKept(path);
  const isOurs = kept !== undefined && kept.runtime === runtime && kept.cwd === cwd;
  const { find, renew } = createHubFinder(loaded, run, agent, ownTokens);
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);

  const news = (reported: ManagedNews): void => {
    const { facts, ...rest } = reported;
    if (json) printLines([logJson({ ...rest, ...facts })]);
    else tell(newsLines(reported).join('\n'));
  };
  const exit = await runManaged({
    open,
    program: run.program,
    session: {
      bin: file,
      args,
      env,
      cwd,
      server: hubServer(loaded, run),
      clientInfo: { name: 'parley', version: VERSION },
      ...(isOurs ? { resume: kept.session_id } : {}),
    },
    name: agent,
    find,
    renew,
    WebSocket,
    restarts: { tries: config.managed.restarts, firstMs: config.managed.restart_ms },
    askMs: run.askTimeout ?? ASK_MS,
    onResumable({ sessionId }) {
      try {
        makeFolderSync(dirname(path));
        writePrivateFile(path, JSON.stringify({ runtime, session_id: sessionId, cwd }));
      } catch (error) {
        tell(`parley: the next start begins a new session: ${errorText(error)}`);
      }
    },
    onNews: news,
    signal: ending.signal,
  }).catch((error: unknown) => {
    if (error instanceof RuntimeError && error.code === 'UNSUPPORTED')
      throw new ParleyError('VALIDATION_ERROR', error.message);
    throw error;
  });
  // Ended as it was told to, by a signal or from the hub: whoever keeps it running has no reason to start it again.
  if (ending.signal.aborted || exit.isStopped) process.exit(EXIT.ok);
  if (exit.stderr.trim() !== '') tell(exit.stderr.trim().split('\n').slice(-5).join('\n'));
  process.exit(exit.code === 0 ? EXIT.ok : EXIT.failure);
}

/** By which driver a program is run: its own, or that of the protocol that many speak. */
async function runtimeOf(
  { program, args, acp, file, env }: ManagedRun,
  anyVersion: boolean,
): Promise<{ runtime: string; args: readonly string[]; open: OpenManaged }> {
  const words = acp === true ? args : acpArguments(program, args);
  // The protocol says its own version.
  if (words !== undefined) return { runtime: `acp ${program}`, args: words, open: openManagedAcp };
  const name = Object.keys(RUNTIMES).find((one) => program === one || program.startsWith(`${one}-`));
  if (name === undefined)
    throw new ParleyError(
      'VALIDATION_ERROR',
      `${program} cannot be run without a terminal; --managed takes ${[...Object.keys(RUNTIMES), ...ACP_PROGRAMS].join(', ')}, and with --acp whatever speaks the Agent Client Protocol`,
    );
  // Commander lets no other name through.
  const runtime = name as ManagedRuntime;
  if (!anyVersion) {
    const version = await versionOf({ command: file, env, cwd: process.cwd(), timeoutMs: VERSION_MS });
    const shut = untried('managed', version, runtime);
    if (shut !== undefined)
      throw new ParleyError('CONFLICT', `${program} cannot be managed: ${shut} (see wake.any_version)`);
  }
  return { runtime, args, open: RUNTIMES[runtime] };
}

/** The hub's tools for this very agent, whatever is registered in the program itself. */
function hubServer(loaded: LoadedConfig, { agent, role, url, tokenFile }: ManagedRun): ManagedServer {
  const { env } = process;
  const [command = '', ...args] = ownServer(loaded, { agent, client: agent });
  const address = url ?? env['PARLEY_URL'];
  const file = tokenFile ?? env['PARLEY_TOKEN_FILE'];
  const rank = role ?? env['PARLEY_ROLE'];
  return {
    name: 'parley',
    command,
    args: [
      ...args,
      ...(rank === undefined ? [] : ['--role', rank]),
      ...(file === undefined ? [] : ['--token-file', file]),
    ],
    // Its wakes come through this process.
    env: { PARLEY_SUPERVISED: SUPERVISED.managed, ...(address === undefined ? {} : { PARLEY_URL: address }) },
  };
}

function readKept(path: string): z.output<typeof Kept> | undefined {
  const text = readPrivateFile(path);
  if (text === undefined) return undefined;
  try {
    return Kept.parse(JSON.parse(text));
  } catch {
    tell(`parley: ${path} cannot be read: a new session begins`);
    return undefined;
  }
}
