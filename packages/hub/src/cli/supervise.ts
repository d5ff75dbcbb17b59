import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { basename } from 'node:path';

import { PROGRAM_KINDS, type ProgramKind } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { parseDuration } from './duration.ts';
import { findProgram } from './find-program.ts';
import { createHubFinder, type SessionOptions } from './hub-finder.ts';
import { tell } from './output.ts';
import { settingsOf } from './settings.ts';

interface RunOptions extends SessionOptions {
  agent?: string;
  workspace?: string;
  managed?: boolean;
  acp?: boolean;
  new?: boolean;
  askTimeout?: number;
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
    .option('--managed', 'without a terminal: prompts come through the hub, and what it asks becomes an ask')
    .option('--acp', 'as --managed, for a program that speaks the Agent Client Protocol on stdin and stdout')
    .option('--new', 'with --managed: begin a new session, whatever was kept of the last')
    .option('--ask-timeout <duration>', 'with --managed: how long an ask waits for you; 1h', parseDuration)
    .addHelpText(
      'after',
      '\nExamples:\n  parley run --agent reviewer -- codex\n  parley run -- claude --resume\n  parley run --agent reviewer --managed -- codex --sandbox workspace-write\n  parley run --managed -- opencode\n  parley run --acp -- npx some-agent',
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
  const file = programFile(name, env['PATH'] ?? '');
  const program = basename(name);
  const agent = options.agent ?? env['PARLEY_AGENT'] ?? program;
  const shared = { ...visible(env), PARLEY_AGENT: agent, PARLEY_SUPERVISED: '1' };
  if (options.managed === true || options.acp === true) {
    const { runManagedProgram } = await import('./run-managed.ts');
    return runManagedProgram(settings, { ...options, file, program, args, env: shared, agent });
  }
  const { runBetweenPipes, supervise } = await import('@parley/supervisor');
  const { default: ws } = await import('ws');
  const run = process.stdin.isTTY && process.stdout.isTTY ? supervise : runBetweenPipes;
  const exit = await run({
    file,
    program,
    kind: options.kind,
    args,
    env: { ...shared, TERM: env['TERM'] ?? 'xterm-256color' },
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
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
      find: createHubFinder(settings, options, agent).find,
    },
    notice: (text) => tell(`parley: ${text}`),
  });
  endLike(exit);
}

/** The program's file; where there is none we end as a shell does, so that a script can tell it from the program's own end. */
function programFile(name: string, path: string): string {
  try {
    return findProgram(name, path);
  } catch {
    const isThere = name.includes('/') && existsSync(name);
    tell(isThere ? `parley: ${name} cannot be executed` : `parley: there is no program ${name}`);
    return process.exit(isThere ? 126 : 127);
  }
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
