import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { basename } from 'node:path';

import { ParleyError } from '@parley/protocol';
import { recordsOf, sessionsOfProgram, whichProgram } from '@parley/runtimes';
import { runBetweenPipes, supervise, type SuperviseOptions } from '@parley/supervisor';

import type { RunSettings } from '../../config/run-settings.ts';
import { claimName, freeName } from './claim-name.ts';
import { createHubFinder } from '../hub-finder.ts';
import { tell } from '../output.ts';
import type { RunOptions } from './run-options.ts';
import { SUPERVISED } from '../../supervised.ts';
import type { TokensOf } from '../../auth/token-source.ts';
import { usagePlace } from '../../usage/usage-place.ts';
import { openUsageReporter } from '../../usage/usage-reporter.ts';

const SHELLS: ReadonlySet<string> = new Set([
  'bash',
  'sh',
  'zsh',
  'fish',
  'dash',
  'ksh',
  'tcsh',
  'csh',
  'nu',
  'xonsh',
]);

/** What the program must not see: tokens of ours, and the way into another Claude session. */
const HIDDEN = /^(?:PARLEY_TOKEN|PARLEY_SESSION|CLAUDECODE|CLAUDE_CODE_MESSAGING_.*)$/;

/** A program as the person means it: its file, who it is, and what it sees. */
export interface NamedProgram {
  file: string;
  program: string;
  args: string[];
  agent: string;
  env: Record<string, string>;
}

/** Finds the program and names it. */
export function nameProgram(
  settings: RunSettings,
  [name = '', ...args]: string[],
  options: RunOptions,
): NamedProgram {
  const { env } = process;
  const file = programFile(name, env['PATH'] ?? '');
  const program = basename(name);
  const isManaged = options.managed === true || options.acp === true;
  const given = options.agent ?? (env['PARLEY_SUPERVISED'] === undefined ? env['PARLEY_AGENT'] : undefined);
  const agent = nameOf(settings, given, program, isManaged);
  const isShell = given === undefined && SHELLS.has(program);
  return { file, program, args, agent, env: childEnvironment(env, agent, isShell, isManaged) };
}

/** Runs a program at the person's terminal, or between the pipes that stand in its place. */
export async function runAtTerminal(
  settings: RunSettings,
  { file, program, args, agent, env }: NamedProgram,
  options: RunOptions,
  tokensOf: TokensOf,
): Promise<void> {
  const { terminal } = settings.config;
  const run = process.stdin.isTTY && process.stdout.isTTY ? supervise : runBetweenPipes;
  const exit = await run({
    file,
    program,
    kind: options.kind,
    args,
    env: { ...env, TERM: process.env['TERM'] ?? 'xterm-256color' },
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
      WebSocket: async () => (await import('ws')).default,
      find: createHubFinder(settings, options, agent, tokensOf).find,
    },
    ...usageOf(settings, { program, agent, env }),
    notice: (text) => tell(`parley: ${text}`),
  });
  endLike(exit);
}

/** Follows the record that the program keeps of its sessions; others keep none that tells tokens. */
function usageOf(
  { config }: RunSettings,
  { program, agent, env }: Pick<NamedProgram, 'program' | 'agent' | 'env'>,
): Pick<SuperviseOptions, 'usage'> {
  const kept = recordsOf(program, env);
  if (kept === undefined || config.usage?.own_terminals === false) return {};
  const startedAt = Date.now();
  return {
    usage: ({ pid, tell: report }) =>
      openUsageReporter({
        ...usagePlace(config),
        home: kept.home,
        agent: async () => agent,
        sessions: () => sessionsOfProgram({ ...kept, pid, cwd: process.cwd(), startedAt }),
        tell: report,
        onFault: () => {},
      }),
  };
}

/** Who it is: whom the person names, else the program's own name, with a number where another runs under it. */
function nameOf(
  { config }: RunSettings,
  given: string | undefined,
  program: string,
  isManaged: boolean,
): string {
  if (given === undefined) {
    const free = freeName(config, program);
    if (free !== program) tell(`parley: ${program} runs already; this one is ${free}`);
    return free;
  }
  if (!claimName(config, given) && isManaged)
    throw new ParleyError(
      'CONFLICT',
      `${given} runs here already: go on with it through the hub (parley agent command ${given} prompt), or give this one a name of its own with --agent`,
    );
  return given;
}

/** In a shell others are run, under names of their own: unless the person named it, it hands on none. */
function childEnvironment(
  env: NodeJS.ProcessEnv,
  agent: string,
  isShell: boolean,
  isManaged: boolean,
): Record<string, string> {
  const { PARLEY_AGENT: _agent, PARLEY_SUPERVISED: _supervised, ...rest } = visible(env);
  const supervised = isManaged ? SUPERVISED.managed : SUPERVISED.terminal;
  return isShell ? rest : { ...rest, PARLEY_AGENT: agent, PARLEY_SUPERVISED: supervised };
}

/** The program's file; where there is none we end as a shell does, so that a script can tell it from the program's own end. */
function programFile(name: string, path: string): string {
  const found = whichProgram(name, path, process.cwd());
  if (found !== undefined) return found;
  const isThere = name.includes('/') && existsSync(name);
  tell(isThere ? `parley: ${name} cannot be executed` : `parley: there is no program ${name}`);
  return process.exit(isThere ? 126 : 127);
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
