import { Command } from 'commander';

import { VERSION } from '../version.ts';
import { addConfigCommand } from './config.ts';
import { addServeCommand } from './serve.ts';
import { addSessionCommands } from './sessions.ts';

/** The command line: every command in its own file. */
export function createProgram(): Command {
  const program = new Command('atm-agent-mcp')
    .description('An MCP server through which Claude Code drives several Codex sessions as teammates.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(see atm-agent-mcp --help)')
    .configureHelp({ showGlobalOptions: true })
    .option('--json', 'print data as JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 it failed, 2 the command line or the configuration is wrong, 3 there is no such thing.',
    );
  addServeCommand(program);
  addConfigCommand(program);
  addSessionCommands(program);
  return program;
}
