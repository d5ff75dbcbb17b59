import type { Command } from 'commander';

import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { tell } from './output.ts';

/** The options every command takes. */
interface GlobalOptions {
  data?: string;
  store?: string;
  config?: string;
  json?: boolean;
}

/** The configuration as this command line sees it; further settings come as flags of the command. */
export function settingsOf(
  command: Command,
  flags: Record<string, unknown> = {},
): LoadedConfig & { json: boolean } {
  const { data, store, config, json } = command.optsWithGlobals<GlobalOptions>();
  const env = config === undefined ? process.env : { ...process.env, PARLEY_CONFIG: config };
  const loaded = loadConfig({ data, store, ...flags }, env);
  for (const name of loaded.strangers)
    tell(`parley: ${name} sets nothing that Parley knows (see parley config --doc)`);
  return { ...loaded, json: json === true };
}
