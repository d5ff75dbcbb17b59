import type { Command } from 'commander';

import { quickSettings, type RunSettings } from '../config/run-settings.ts';

/** The settings of a command that only talks to a hub: the whole schema is loaded where more than that is set. */
export async function clientSettings(
  command: Command,
  flags: Readonly<Record<string, unknown>> = {},
): Promise<RunSettings & { json: boolean }> {
  const { data, store, config, json } = command.optsWithGlobals<{
    data?: string;
    store?: string;
    config?: string;
    json?: boolean;
  }>();
  const quick = config === undefined ? quickSettings({ data, store, ...flags }, process.env) : undefined;
  if (quick !== undefined) return { ...quick, json: json === true };
  const { settingsOf } = await import('./settings.ts');
  return settingsOf(command, flags);
}
