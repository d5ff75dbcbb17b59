import { Command } from 'commander';

import { VERSION } from '../version.ts';
import { addAgentCommands } from './agent.ts';
import { addArtifactCommands } from './artifact/commands.ts';
import { addAskCommands } from './ask.ts';
import { addBackupCommand } from './backup.ts';
import { addConfigCommands } from './config.ts';
import { addDemoCommand } from './demo.ts';
import { addDeviceCommands } from './device.ts';
import { addDoctorCommand } from './doctor.ts';
import { addExitCodesTopic } from './exit-codes.ts';
import { addExportCommand } from './export.ts';
import { addHookCommands } from './hook.ts';
import { addInitCommands } from './init/commands.ts';
import { addKeyCommands } from './key.ts';
import { addKnowCommands } from './know/commands.ts';
import { addLinkCommand, addPairCommand } from './pair.ts';
import { addMcpCommand } from './mcp.ts';
import { addNotifyCommands } from './notify.ts';
import { addPostCommand } from './post.ts';
import { addQueueCommands } from './queue.ts';
import { addQuietCommand } from './quiet.ts';
import { addReadCommand } from './read.ts';
import { addRunCommand } from './supervise.ts';
import { addSearchCommand } from './search.ts';
import { addServeCommand } from './serve.ts';
import { addSessionsCommand } from './sessions.ts';
import { addSloCommand } from './slo.ts';
import { addStatusCommand } from './status.ts';
import { addTailCommand } from './tail.ts';
import { addThreadCommands } from './thread/commands.ts';
import { addTokenCommands } from './token.ts';
import { addVerifyRuntimeCommand } from './verify-runtime.ts';
import { addWakeCommand } from './wake.ts';
import { addWhyCommand } from './why.ts';

/** The command line: every command in its own file, in the order a newcomer meets them. */
export function createProgram(): Command {
  const program = new Command('parley')
    .description('The record that coding agents talk through, and the desk from which a person steers them.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(see parley --help)')
    .configureHelp({ showGlobalOptions: true })
    .option('--data <folder>', 'folder that holds all state')
    .option('--config <file>', 'configuration file (TOML)')
    .option('--json', 'print data as JSON')
    .option('--no-color', 'print without colour; so does NO_COLOR')
    .addHelpText('after', '\nWithout a command it serves. Exit codes: parley help exit-codes');
  program.commandsGroup('Run:');
  addServeCommand(program);
  addLinkCommand(program);
  addPairCommand(program);
  addMcpCommand(program);
  addRunCommand(program);
  addInitCommands(program);
  addDemoCommand(program);
  addStatusCommand(program);
  addDoctorCommand(program);
  addVerifyRuntimeCommand(program);
  program.commandsGroup('Talk:');
  addThreadCommands(program);
  addPostCommand(program);
  addReadCommand(program);
  addTailCommand(program);
  addSearchCommand(program);
  addWhyCommand(program);
  addSessionsCommand(program);
  program.commandsGroup('Know:');
  addKnowCommands(program);
  addArtifactCommands(program);
  program.commandsGroup('Steer:');
  addAskCommands(program);
  addAgentCommands(program);
  addWakeCommand(program);
  addQuietCommand(program);
  addNotifyCommands(program);
  program.commandsGroup('Operate:');
  addSloCommand(program);
  addDeviceCommands(program);
  addQueueCommands(program);
  addTokenCommands(program);
  addKeyCommands(program);
  addConfigCommands(program);
  addExportCommand(program);
  addBackupCommand(program);
  addHookCommands(program);
  addExitCodesTopic(program);
  return program;
}
