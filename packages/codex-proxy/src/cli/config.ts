import { table, keysOf } from '@parley/protocol';
import type { Command } from 'commander';

import { type LoadedConfig, variablesOf } from '../config/load.ts';
import { SETTINGS } from '../config/schema.ts';
import { print } from './output.ts';
import { addSettingOptions, settingsOf } from './settings.ts';

/** `atm-agent-mcp config`: every value that holds, and where it came from. */
export function addConfigCommand(program: Command): void {
  addSettingOptions(program.command('config'))
    .description('the settings that hold here, and where each came from')
    .addHelpText('after', '\nExample:\n  atm-agent-mcp config --json')
    .action((_options: unknown, command: Command) => {
      const loaded = settingsOf(command);
      const data = describe(loaded);
      print(loaded.json, data, () => linesOf(data));
    });
}

function describe(loaded: LoadedConfig) {
  const names = keysOf(SETTINGS);
  return {
    files: {
      user: loaded.files.user ?? null,
      repo: loaded.files.repo ?? null,
      sessions: loaded.places.sessions,
      teams: loaded.places.teams,
      mail: loaded.places.mail,
    },
    repo_trusted: loaded.trusted,
    values: names.map((key) => ({
      key,
      value: loaded.settings[key],
      origin: loaded.origins.get(key) ?? 'default',
      variables: variablesOf(key),
      description: SETTINGS[key].description,
    })),
    roles: [...loaded.roles].map(([name, role]) => ({ name, origin: loaded.roleOrigins.get(name), ...role })),
    aliases: Object.fromEntries(loaded.aliases),
    ignored: loaded.ignored,
    unknown: loaded.unknown,
  };
}

function linesOf(data: ReturnType<typeof describe>): string[] {
  const rows = [
    ...data.values.map(({ key, value, origin }) => [key, JSON.stringify(value), origin]),
    ...data.roles.map(({ name, origin, ...role }) => [`roles.${name}`, JSON.stringify(role), String(origin)]),
    ...Object.entries(data.aliases).map(([name, address]) => [`aliases.${name}`, address, '']),
  ];
  return [
    ...table(rows),
    ...data.ignored.map(
      ({ key, file }) => `ignored: ${key} in ${file}, as this repository is not in trusted_repos`,
    ),
    ...data.unknown.map((name) => `unknown: ${name}`),
  ];
}
