import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { basename } from 'node:path';

import { checkAddress, ParleyError, PROGRAM_KINDS, type ProgramKind } from '@parley/protocol';
import type { FoundHub } from '@parley/supervisor';
import { type Command, Option } from 'commander';

import type { LoadedConfig } from '../config/load.ts';
import { parseDuration } from './duration.ts';
import { findHub } from './find-hub.ts';
import { findProgram } from './find-program.ts';
import { tell } from './output.ts';
import { ownCommand } from './own-command.ts';
import { givenToken, ownTokens, type TokenSource } from './own-token.ts';
import { settingsOf } from './settings.ts';
import { SUPERVISED } from './supervised.ts';

interface RunOptions {
  agent?: string;
  workspace?: string;
  role?: string;
  session?: string;
  url?: string;
  tokenFile?: string;
  kind?: ProgramKind;
  recheck?: number;
  quiet?: number;
  maxDefer?: number;
}

/** What the program must not see: tokens of ours, and the way into another Claude session. */
const HIDDEN = /^(?:PARLEY_TOKEN|PARLEY_SESSION|CLAUDECODE|CLAUDE_CODE_MESSAGING_.*)$/;

/** `parley run`: a program at the person's terminal, which the hub can reach when the person is quiet. */
export function addRunCommand(program: Command): void {
  program
    .command('run')
    .argument('<program...>', 'after --, with its arguments')
    .description('run an agent at this terminal, where the hub can reach it when you are not typing')
    .option('--agent <id>', 'agent id (PARLEY_AGENT); else the name of the program')
    .option('--workspace <id>', 'workspace id')
    .option('--role <role>', 'role of the agent (PARLEY_ROLE); else worker')
    .option('--session <id>', 'session id (PARLEY_SESSION); else a new one')
    .option('--url <url>', 'the hub (PARLEY_URL); else the one that runs on the data folder')
    .option('--token-file <file>', 'file (mode 0600) with a token (PARLEY_TOKEN_FILE, or PARLEY_TOKEN)')
    .addOption(new Option('--kind <kind>', 'how text reaches it; else by its name').choices(PROGRAM_KINDS))
    .option('--quiet <duration>', 'how long you must have pressed no key (terminal.quiet_ms)', parseDuration)
    .option(
      '--recheck <duration>',
      'how often a waiting text is looked at (terminal.recheck_ms)',
      parseDuration,
    )
    .option(
      '--max-defer <duration>',
      'how long you can keep a text waiting (terminal.max_defer_ms)',
      parseDuration,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  parley run --agent reviewer -- codex\n  parley run -- claude --resume',
    )
    .action((words: string[], options: RunOptions, command: Command) => runProgram(words, options, command));
}

async function runProgram(
  [name = '', ...args]: string[],
  options: RunOptions,
  command: Command,
): Promise<void> {
  const { env } = process;
  const settings = settingsOf(command, {
    workspace: options.workspace,
    'terminal.quiet_ms': options.quiet,
    'terminal.recheck_ms': options.recheck,
    'terminal.max_defer_ms': options.maxDefer,
  });
  const { terminal } = settings.config;
  const file = findProgram(name, env['PATH'] ?? '');
  const program = basename(name);
  const agent = options.agent ?? env['PARLEY_AGENT'] ?? program;
  const { supervise } = await import('@parley/supervisor');
  const { default: ws } = await import('ws');
  const exit = await supervise({
    file,
    program,
    kind: options.kind,
    args,
    env: { ...visible(env), PARLEY_AGENT: agent, [SUPERVISED]: '1', TERM: env['TERM'] ?? 'xterm-256color' },
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    usualSize: { cols: Number(env['COLUMNS']) || 80, rows: Number(env['LINES']) || 24 },
    patience: {
      recheckMs: terminal.recheck_ms,
      quietMs: terminal.quiet_ms,
      maxDeferMs: terminal.max_defer_ms,
      expireMs: terminal.expire_ms,
    },
    hub: {
      name: agent,
      runtime: `${program}-terminal`.slice(0, 64),
      WebSocket: ws,
      find: hubFinder(settings, options, agent),
    },
    notice: (text) => tell(`parley: ${text}`),
  });
  endLike(exit);
}

/** Finds the hub each time anew: one of the data folder may come back at another address. */
function hubFinder(
  loaded: LoadedConfig,
  options: RunOptions,
  agent: string,
): () => Promise<FoundHub | undefined> {
  const { config } = loaded;
  const { env } = process;
  const address = options.url ?? env['PARLEY_URL'];
  if (address !== undefined) checkAddress(address);
  const given = givenToken(env['PARLEY_TOKEN'], options.tokenFile ?? env['PARLEY_TOKEN_FILE']);
  const own = ownTokens(
    config,
    {
      agent_id: agent,
      workspace_id: config.workspace,
      role: options.role ?? env['PARLEY_ROLE'] ?? 'worker',
      session_id:
        options.session ??
        env['PARLEY_SESSION'] ??
        `${agent.slice(0, 100)}-${randomBytes(4).toString('hex')}`,
    },
    () => undefined,
  );
  return async () => {
    const found = findHub(config.data);
    const url = (address ?? found?.url)?.replace(/\/+$/, '');
    if (url === undefined)
      throw new ParleyError(
        'UNAVAILABLE',
        `no hub runs on ${config.data} (start one with: ${ownCommand(loaded)} serve)`,
      );
    if (given === undefined && url !== found?.url)
      throw new ParleyError('UNAUTHORIZED', `${url} is not the hub of the data folder and needs a token`);
    const tokens: TokenSource = given ?? own;
    return { url, token: () => tokens.get() };
  };
}

function visible(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || HIDDEN.test(name) ? [] : [[name, value] as const],
    ),
  );
}

/** Ends as the program did, so that whoever started us sees the same. */
function endLike({ code, signal }: { code: number; signal: NodeJS.Signals | null }): void {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Where the signal does not end us, the code says the same.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1_000);
}
