import { PROGRAM_KINDS, type ProgramKind } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { parseDuration } from '../duration.ts';
import type { SessionOptions } from '../hub-finder.ts';

export interface RunOptions extends SessionOptions {
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

/** `parley run`: a program at the person's terminal, which the hub can reach when the person is quiet. */
export function addRunCommand(
  program: Command,
  run: (words: string[], options: RunOptions, command: Command) => Promise<void>,
): void {
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
    .action(run);
}

/** Those of its options that are settings. */
export function flagsOf(options: RunOptions): Record<string, unknown> {
  return {
    workspace: options.workspace,
    'terminal.quiet_ms': options.quiet,
    'terminal.recheck_ms': options.recheck,
    'terminal.max_defer_ms': options.maxDefer,
  };
}
