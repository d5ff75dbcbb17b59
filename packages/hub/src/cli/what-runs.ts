import type { Command } from 'commander';

import { clientSettings } from './client-settings.ts';
import { findHub } from './find-hub.ts';
import { print } from './output.ts';
import { ownCommand } from './own-command.ts';
import { createProgram } from './program.ts';
import { VERSION } from '../version.ts';

/** What a person sees who types the name of the program alone: every command, and whether a hub runs on their folder. */
export async function showWhatRuns(bare: Command): Promise<void> {
  const settings = await clientSettings(bare);
  const { data } = settings.config;
  const hub = findHub(data);
  const typed = ownCommand(settings);
  const running = hub === undefined ? { running: false } : { running: true, url: hub.url, pid: hub.pid };
  const help = settings.json ? '' : (await createProgram()).helpInformation();
  print(settings, { version: VERSION, data, ...running }, () => [
    help.trimEnd(),
    '',
    ...(hub === undefined
      ? [`No hub runs on ${data}. Start one: ${typed} serve`]
      : [
          `A hub runs at ${hub.url} (process ${hub.pid}, data ${data}).`,
          `Its dashboard: ${typed} link    What goes on: ${typed} status`,
        ]),
  ]);
}
