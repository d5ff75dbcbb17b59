import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

import { RuntimeError } from '../runtime-error.ts';

/** The executable file behind a path or a name, as a shell finds it; undefined where there is none. */
export function whichProgram(bin: string, search: string, cwd: string): string | undefined {
  const folders = /[\\/]/.test(bin) ? [cwd] : search.split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.resolve(cwd, folder, bin)).find(isExecutable);
}

/** Where a program is: by its path, or by its name in PATH. */
export function findProgram(bin: string, env: Readonly<Record<string, string>>, cwd: string): string {
  const found = whichProgram(bin, env['PATH'] ?? '', cwd);
  if (found !== undefined) return found;
  throw new RuntimeError('SPAWN_FAILED', `${bin} is not an executable file, nor one in PATH`);
}

/** True for a file that can be run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
