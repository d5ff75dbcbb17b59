import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';

import { hideSecrets } from '@parley/protocol';

import { usualConfigFile } from '../config/default-paths.ts';
import type { RunSettings } from '../config/run-settings.ts';
import { storeNote, withoutPassword } from '../config/store-note.ts';
import { quote } from '../shell-word.ts';

/** How a person types this program with the same configuration, so that printed commands work as pasted; `anywhere`: in every folder. */
export function ownCommand(
  { config, origins, file }: Pick<RunSettings, 'config' | 'origins' | 'file'>,
  { anywhere = false }: { anywhere?: boolean } = {},
): string {
  const parts = [programName(anywhere)];
  if (file !== undefined && file !== usualConfigFile(process.env)) parts.push('--config', quote(file));
  if (origins.get('data') === 'flag' || origins.get('data') === 'env')
    parts.push('--data', quote(config.data));
  const { store = '' } = config;
  // An address with a password in it is not for a screen, and a folder that has been served remembers its database.
  const isTold = origins.get('store') !== 'flag' || storeNote(config.data) === withoutPassword(store);
  if (!isTold && hideSecrets(store) === store) parts.push('--store', quote(store));
  return parts.join(' ');
}

/** `parley` where the shell finds it, else the file itself: never a name that npm would look up among strangers' packages. */
function programName(anywhere: boolean): string {
  const script = realpathSync(process.argv[1] ?? '');
  const isThis = (path: string): boolean => existsSync(path) && realpathSync(path) === script;
  // What npm puts before the PATH is gone when it ends.
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((path) => basename(path) !== '.bin');
  if (folders.some((folder) => folder !== '' && isThis(join(folder, 'parley')))) return 'parley';
  const inClone = join(dirname(script), '../../../parley');
  if (!isThis(inClone)) return `node ${quote(script)}`;
  return !anywhere && relative('', inClone) === 'parley' ? './parley' : quote(inClone);
}
