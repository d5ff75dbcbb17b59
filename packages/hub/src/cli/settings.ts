import type { Command } from 'commander';

import { type LoadedConfig, loadConfig } from '../config/load.ts';

/** The options every command takes. */
interface GlobalOptions {
  data?: string;
  config?: string;
  json?: boolean;
}

/** The configuration as this command line sees it; further settings come as flags of the command. */
export function settingsOf(
  command: Command,
  flags: Record<string, unknown> = {},
): LoadedConfig & { json: boolean } {
  const { data, config, json } = command.optsWithGlobals<GlobalOptions>();
  const env = config === undefined ? process.env : { ...process.env, PARLEY_CONFIG: config };
  return { ...loadConfig({ data, ...flags }, env), json: json === true };
}
