import { Command } from 'commander';

import { VERSION } from '../version.ts';
import { addKeyCommands } from './key.ts';
import { addMcpCommand } from './mcp.ts';
import { addServeCommand } from './serve.ts';
import { addTokenCommands } from './token.ts';

/** The command line: every command in its own file, in the order a newcomer meets them. */
export function createProgram(): Command {
  const program = new Command('parley')
    .description('The record that coding agents talk through, and the desk from which a person steers them.')
    .version(VERSION)
    .showHelpAfterError('(see parley --help)')
    .configureHelp({ showGlobalOptions: true })
    .option('--data <folder>', 'folder that holds all state')
    .option('--config <file>', 'configuration file (TOML)')
    .option('--json', 'print data as JSON');
  addServeCommand(program);
  addMcpCommand(program);
  addTokenCommands(program);
  addKeyCommands(program);
  return program;
}
