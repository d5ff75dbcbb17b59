import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

import { ParleyError } from '@parley/protocol';

/** The executable file behind a name, as a shell finds it. */
export function findProgram(name: string, path: string): string {
  const folders = name.includes('/') ? [''] : path.split(delimiter).filter(Boolean);
  for (const folder of folders) {
    const file = resolve(folder, name);
    if (isExecutable(file)) return file;
  }
  throw new ParleyError('NOT_FOUND', `there is no program ${name}`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
