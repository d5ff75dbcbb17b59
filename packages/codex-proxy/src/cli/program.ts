import { Command } from 'commander';

import { VERSION } from '../version.ts';
import { addAuditCommand } from './audit.ts';
import { addBridgeCommand } from './bridge.ts';
import { addConfigCommand } from './config.ts';
import { addMailCommand } from './mail.ts';
import { addDoctorCommand } from './doctor.ts';
import { addFinishCommand } from './finish.ts';
import { addInitCommand } from './init.ts';
import { addServeCommand } from './serve.ts';
import { addSessionsCommand, addSummaryCommand } from './sessions.ts';

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
  addSessionsCommand(program);
  addSummaryCommand(program);
  addAuditCommand(program);
  addConfigCommand(program);
  addDoctorCommand(program);
  addInitCommand(program);
  addMailCommand(program);
  addBridgeCommand(program);
  addFinishCommand(program);
  return program;
}
