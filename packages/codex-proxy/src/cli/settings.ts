import { type Command, Option } from 'commander';

import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { SettingName } from '../config/schema.ts';

interface SettingOptions {
  fast?: boolean;
  readonly?: boolean;
  explore?: boolean;
  trustRepo?: boolean;
  set?: string[];
  timeout?: string;
  [name: string]: unknown;
}

const FLAGS = [
  ['--identity <name>', 'identity of a session whose call names none', 'identity'],
  ['--team <name>', 'team whose mail and sessions these are', 'team'],
  ['--role <preset>', 'role preset of a session whose call names none', 'role'],
  ['--model <model>', 'model of a session', 'model'],
  ['--sandbox <mode>', 'read-only, workspace-write or danger-full-access', 'sandbox'],
  ['--approval-policy <policy>', 'when Codex asks for approval', 'approval_policy'],
  ['--codex-bin <program>', 'the Codex program', 'codex_bin'],
  ['--transport <server>', 'auto, app-server or mcp-server', 'transport'],
  ['--timeout <seconds>', 'how long one turn may take', 'request_timeout_secs'],
] as const satisfies readonly (readonly [string, string, SettingName])[];

/** Gives a command the flags that settle the configuration. */
export function addSettingOptions(command: Command): Command {
  for (const [flag, description] of FLAGS) command.option(flag, description);
  return command
    .option('--fast', 'take the model that fast_model names')
    .option('--subagents', 'let Codex start agents of its own')
    .option('--readonly', 'sandbox read-only')
    .addOption(new Option('--explore', 'the same as --readonly').hideHelp())
    .option('--set <key=value...>', 'any other setting; see `atm-agent-mcp config`')
    .option('--trust-repo', "let this repository's .atm.toml name programs and files, this time");
}

/** The configuration that a command line, its environment and its folder make; `only` names the flags that settle it. */
export function settingsOf(
  command: Command,
  only: readonly SettingName[] = FLAGS.map(([, , key]) => key),
): LoadedConfig & { json: boolean } {
  const options = command.optsWithGlobals<SettingOptions & { json?: boolean }>();
  const settings: Partial<Record<SettingName, unknown>> = {};
  for (const pair of options.set ?? []) {
    const at = pair.indexOf('=');
    // Whether there is a setting of this name is checked where all of them are read.
    settings[(at < 0 ? pair : pair.slice(0, at)) as SettingName] = at < 0 ? 'true' : pair.slice(at + 1);
  }
  for (const [flag, , key] of FLAGS) {
    const value = options[new Option(flag).attributeName()];
    if (value !== undefined && only.includes(key)) settings[key] = value;
  }
  if (options['subagents'] === true) settings.subagents = true;
  const flags = {
    settings,
    fast: options.fast,
    readonly: options.readonly === true || options.explore === true,
    trustRepo: options.trustRepo,
  };
  return { ...loadConfig(flags, process.env, process.cwd()), json: options.json === true };
}
