import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';

import { type LoadedConfig, usualConfigFile } from '../config/load.ts';

/** How a person types this program with the same configuration, so that printed commands work as pasted. */
export function ownCommand({ config, origins, file }: LoadedConfig): string {
  const parts = [programName()];
  if (file !== undefined && file !== usualConfigFile(process.env)) parts.push('--config', quote(file));
  if (origins.get('data') === 'flag' || origins.get('data') === 'env')
    parts.push('--data', quote(config.data));
  return parts.join(' ');
}

/** `parley` where the shell finds it, `npx parley` in a clone or under npx, else the file itself. */
function programName(): string {
  const { npm_command, PATH = '' } = process.env;
  const script = process.argv[1] ?? 'parley';
  if (npm_command !== undefined) return 'npx parley';
  const isThis = (folder: string): boolean => {
    const path = join(folder, 'parley');
    return existsSync(path) && realpathSync(path) === realpathSync(script);
  };
  if (PATH.split(delimiter).some((folder) => folder !== '' && isThis(folder))) return 'parley';
  if (isThis(join('node_modules', '.bin'))) return 'npx parley';
  const path = relative('', script);
  return `node ${quote(path.startsWith('..') ? script : path)}`;
}

/** A word as a shell takes it that a person pastes into. */
export function quote(text: string): string {
  return /^[\w./~:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
