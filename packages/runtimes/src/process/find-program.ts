import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';

import { RuntimeError } from '../runtime-error.ts';

/** Where a program is: by its path, or by its name in PATH. */
export async function findProgram(
  bin: string,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<string> {
  const folders = /[\\/]/.test(bin) ? [cwd] : (env['PATH'] ?? '').split(path.delimiter).filter(Boolean);
  for (const folder of folders) {
    const candidate = path.resolve(cwd, folder, bin);
    if (await isExecutable(candidate)) return candidate;
  }
  throw new RuntimeError('SPAWN_FAILED', `${bin} is not an executable file, nor one in PATH`);
}

/** True for a file that can be run. */
export function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
