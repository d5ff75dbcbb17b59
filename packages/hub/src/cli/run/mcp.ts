import type { Command } from 'commander';

import { takeStdout } from './take-stdout.ts';

/** What `parley mcp` takes. */
export interface McpOptions {
  agent?: string;
  usualAgent?: string;
  workspace?: string;
  role?: string;
  session?: string;
  tokenFile?: string;
  legacy?: boolean;
}

/** `parley mcp`: the hub's tools for a client that starts its servers itself and speaks on stdin and stdout. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('serve MCP on stdin and stdout; joins the running hub of the data folder, or runs one')
    .option('--agent <id>', "agent id (PARLEY_AGENT); without it the client's own name")
    .option('--usual-agent <id>', 'agent id where neither --agent nor PARLEY_AGENT names one')
    .option('--workspace <id>', 'workspace id (PARLEY_WORKSPACE)')
    .option('--role <role>', 'operator, orchestrator, worker or observer (PARLEY_ROLE)')
    .option('--session <id>', 'session id (PARLEY_SESSION)')
    .option('--token-file <file>', 'file with a token issued elsewhere (PARLEY_TOKEN_FILE, or PARLEY_TOKEN)')
    .option('--legacy', 'only the revisions before 2026-07-28')
    .addHelpText(
      'after',
      '\nparley init registers it in the clients that are installed.\n\nExample:\n  claude mcp add parley -- parley mcp --agent claude',
    )
    .action(async (options: McpOptions, command: Command) => {
      // Before anything else is loaded: nobody but the protocol may write there.
      const output = takeStdout();
      const { serveMcp } = await import('./serve-mcp.ts');
      await serveMcp(options, command, output);
    });
}
