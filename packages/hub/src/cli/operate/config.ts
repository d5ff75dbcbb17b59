import { hideSecretsIn, fieldsOf } from '@parley/protocol';
import type { Command } from 'commander';

import { type Leaf, listLeaves, type LoadedConfig, variableOf } from '../../config/load.ts';
import { usualConfigFile } from '../../config/default-paths.ts';
import { fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { print } from '../output.ts';
import { settingsOf } from '../settings.ts';

/** `parley config`: every value that holds, and where it came from. */
export function addConfigCommands(program: Command): void {
  const config = program
    .command('config')
    .description('the effective configuration and where each value came from')
    .option('--doc', 'print the reference of all settings (Markdown)')
    .addHelpText('after', '\nExample:\n  parley config --json')
    .action((options: { doc?: boolean }, command: Command) => {
      if (options.doc === true) {
        const { json } = command.optsWithGlobals<{ json?: boolean }>();
        print({ json }, { settings: listLeaves().map(toSetting) }, configReference);
        return;
      }
      const loaded = settingsOf(command);
      const rows = hideSecretsIn(effectiveValues(loaded));
      print({ json: loaded.json }, { file: loaded.file ?? null, values: rows }, () =>
        fittedTable(rows.map((row) => [row.path, oneLine(JSON.stringify(row.value)), row.origin])),
      );
    });
  config
    .command('path')
    .description('where the configuration file is, or would be looked for')
    .action((_options: unknown, command: Command) => {
      const { file, config: values, json } = settingsOf(command);
      const path = file ?? usualConfigFile(process.env);
      print({ json }, { file: path, exists: file !== undefined, data: values.data }, () => [path]);
    });
}

function effectiveValues({ config, origins }: LoadedConfig) {
  return listLeaves().map(({ path }) => {
    const value = path.split('.').reduce<unknown>((at, name) => fieldsOf(at)[name], config);
    return { path, value, origin: origins.get(path) ?? 'default', variable: variableOf(path) };
  });
}

function toSetting(leaf: Leaf) {
  const { path, type, allowed, description, fallback = null } = leaf;
  return { path, variable: variableOf(path), type, default: fallback, allowed, description };
}

/** The reference of all settings, made from their schema. */
function configReference(): string[] {
  const rows = listLeaves().map((leaf) => {
    const fallback = leaf.fallback === undefined ? '' : `\`${JSON.stringify(leaf.fallback)}\``;
    return `| \`${leaf.path}\` | \`${variableOf(leaf.path)}\` | ${fallback} | ${leaf.allowed} | ${leaf.description} |`;
  });
  return [
    '# Configuration',
    '',
    'Made by `parley config --doc`; do not edit.',
    '',
    'Nothing needs to be set. A value comes from the default, then from the configuration file (TOML), then from the',
    'environment, then from a flag: the last one that names it holds. Any setting can be a flag of `parley serve`:',
    '`--set quota.messages_per_minute=600`. An unknown name is an error. `parley config` shows what holds and why.',
    '',
    'The file is `$XDG_CONFIG_HOME/parley/config.toml`, else `~/.config/parley/config.toml`; `--config` or',
    '`PARLEY_CONFIG` names another, and `parley config path` says which it is. The hub reads it when it starts: restart',
    'the hub after a change. In the file a dotted name is a table: `quota.messages_per_minute` stands as',
    '`messages_per_minute` under `[quota]`.',
    '',
    '| setting | variable | default | allowed | what it does |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '`data` defaults to `$ATM_HOME`, else `$XDG_DATA_HOME/parley`, else `~/.local/share/parley`; `--data` sets it on',
    'every command, and so does `--store`; a folder whose node served a database remembers which, without its password:',
    'put that into `PARLEY_STORE`, `PGPASSWORD` or `~/.pgpass`. Lists are written with commas in a variable, or as JSON.',
    '',
    'Variables for the commands that talk to a hub, beside the settings: `PARLEY_URL`, `PARLEY_TOKEN`,',
    '`PARLEY_TOKEN_FILE`, `PARLEY_AGENT`, `PARLEY_ROLE`, `PARLEY_SESSION`, and `PARLEY_CONFIG` for the configuration file.',
  ];
}
