import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { writeWholeSync } from '@parley/files';
import { ParleyError } from '@parley/protocol';
import { type Command, Option } from 'commander';

import type { LoadedConfig } from '../../../config/load.ts';
import { findHub } from '../../find-hub.ts';
import { print, printLines, tell } from '../../output.ts';
import { ownCommand } from '../../own-command.ts';
import { runClient } from '../../run/init/run-client.ts';
import { settingsOf } from '../../settings.ts';
import { type Definition, definitionOf, type Service, type ServiceKind, type Step } from './definitions.ts';

interface ServiceOptions {
  kind: ServiceKind;
  print?: true;
}

/** `parley service`: the hub as a service of the person who asks for it, from sign-in on. */
export function addServiceCommands(program: Command): void {
  const service = program
    .command('service')
    .description('run the hub from sign-in on, as a service of your own: install, remove');
  withKind(service.command('install'))
    .description('start the hub now and at each sign-in; again, after the program or its settings have moved')
    .option('--print', 'only print the file')
    .addHelpText(
      'after',
      '\nThe hub of --data, --config and --store. No root is needed, and nothing outside your home is changed.\n\nExample:\n  parley service install',
    )
    .action(async (options: ServiceOptions, command: Command) => install(options, settingsOf(command)));
  withKind(service.command('remove'))
    .description('stop it, and take its file away; the data folder stays')
    .addHelpText('after', '\nExample:\n  parley service remove')
    .action(async (options: ServiceOptions, command: Command) => remove(options, settingsOf(command)));
}

function withKind(command: Command): Command {
  return command.addOption(
    new Option('--kind <kind>', 'who starts it')
      .choices(['systemd', 'launchd'])
      .default(process.platform === 'darwin' ? 'launchd' : 'systemd'),
  );
}

type Settings = LoadedConfig & { json: boolean };

async function install(options: ServiceOptions, settings: Settings): Promise<void> {
  const definition = theDefinition(options.kind);
  const { file } = definition;
  const text = definition.text(serviceOf(settings));
  if (options.print === true) return print(settings, { file, text }, () => [text.trimEnd()]);
  const wasThere = existsSync(file);
  const running = findHub(settings.config.data);
  if (running !== undefined && !wasThere)
    throw new ParleyError(
      'CONFLICT',
      `a hub runs on ${settings.config.data} already (process ${running.pid}); stop it first, so that the service can start its own`,
    );
  mkdirSync(dirname(file), { recursive: true });
  writeWholeSync(file, text);
  const failed = await carryOut(wasThere ? definition.restart : definition.start);
  print(settings, { file, started: failed === undefined }, () => [
    failed === undefined ? `The hub runs, and is started at each sign-in: ${file}` : `Written: ${file}`,
  ]);
  if (failed !== undefined)
    tell(`But it could not be started (${failed.why}). Try: ${failed.step.join(' ')}`);
  else if (!settings.json)
    printLines([
      `Its dashboard: ${ownCommand(settings)} link`,
      ...(options.kind === 'systemd'
        ? ['To have it run also while you are not signed in: loginctl enable-linger']
        : []),
    ]);
  if (failed !== undefined) process.exitCode = 1;
}

async function remove(options: ServiceOptions, settings: Settings): Promise<void> {
  const definition = theDefinition(options.kind);
  const { file } = definition;
  if (!existsSync(file)) throw new ParleyError('NOT_FOUND', `there is no service: ${file} is not there`);
  if (!isOurs(file))
    throw new ParleyError('CONFLICT', `${file} starts something else than Parley; it is left alone`);
  // A manager that is not there runs nothing that would have to be stopped.
  const failed = await carryOut(definition.stop);
  rmSync(file);
  rmEmpty(dirname(file));
  await carryOut(definition.forget);
  print(settings, { file, stopped: failed === undefined }, () => [
    `Removed: ${file}. The data folder stays as it is.`,
  ]);
  if (failed !== undefined && findHub(settings.config.data) !== undefined)
    tell(`But a hub still runs on ${settings.config.data}: its manager could not be asked (${failed.why}).`);
}

/** Takes a folder away, and those above it, as far as nothing is in them; at most those that an install makes. */
function rmEmpty(folder: string, depth = 2): void {
  if (depth === 0 || readdirSync(folder).length > 0) return;
  rmdirSync(folder);
  rmEmpty(dirname(folder), depth - 1);
}

function theDefinition(kind: ServiceKind): Definition {
  return definitionOf(kind, process.env, process.getuid?.() ?? 0);
}

function isOurs(file: string): boolean {
  return /parley/.test(readFileSync(file, 'utf8'));
}

/** This very program, on the same folder and settings, whatever the PATH is when it is started. */
function serviceOf({ config, origins, file }: LoadedConfig): Service {
  const isGiven = (name: string): boolean => ['flag', 'env'].includes(origins.get(name) ?? '');
  if (isGiven('store') && /:\/\/[^/@]*:[^/@]*@/.test(config.store))
    throw new ParleyError(
      'VALIDATION_ERROR',
      'a password would stand in the file of the service: put the store into the configuration file, and the password into ~/.pgpass',
    );
  return {
    words: [
      process.execPath,
      resolve(process.argv[1] ?? 'parley'),
      'serve',
      '--data',
      resolve(config.data),
      ...(file === undefined ? [] : ['--config', resolve(file)]),
      ...(isGiven('store') ? ['--store', config.store] : []),
    ],
    // It wakes agents by their programs, which it finds where this person does.
    path: process.env['PATH'] ?? '',
  };
}

/** The first step that failed, and why. */
async function carryOut(steps: readonly Step[]): Promise<{ step: Step; why: string } | undefined> {
  for (const step of steps) {
    const [program, ...words] = step;
    try {
      await runClient(program, words);
    } catch (error) {
      return { step, why: error instanceof Error ? error.message : String(error) };
    }
  }
  return undefined;
}
