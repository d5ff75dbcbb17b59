import type { Command } from 'commander';

export interface HookOptions {
  name: string;
  agent?: string;
  usualAgent?: string;
  workspace?: string;
  tokenFile?: string;
}

/** `parley hook claude`: what Claude Code itself runs beside a session, so that the hub can wake it. */
export function addHookCommands(program: Command): void {
  program
    .command('hook', { hidden: true })
    .description('run by an agent’s program, not by people; parley init registers it')
    .command('claude')
    .description('wait beside a Claude Code session, and hand it the wakes that come')
    .option('--name <name>', 'under which it was registered', 'parley')
    .option('--agent <id>', 'agent id (PARLEY_AGENT)')
    .option('--usual-agent <id>', 'agent id where neither --agent nor PARLEY_AGENT names one')
    .option('--workspace <id>', 'workspace id (PARLEY_WORKSPACE)')
    .option('--token-file <file>', 'file with a token issued elsewhere (PARLEY_TOKEN_FILE)')
    .action(async (options: HookOptions, command: Command) => {
      const { waitBesideClaude } = await import('./wait-beside-claude.ts');
      process.exit(await waitBesideClaude(options, command));
    });
}
