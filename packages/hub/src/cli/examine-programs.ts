import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import type { Check } from './examine.ts';
import { oneLine } from './harmless.ts';

const PROGRAMS = ['codex', 'claude'];

/** Which agents' command lines are installed; none is needed, so none is ever missing. */
export function checkPrograms(): Promise<Check[]> {
  return Promise.all(
    PROGRAMS.map(async (name) => {
      const path = findOnPath(name);
      if (path === undefined) return { name, ok: true, detail: 'not on the PATH' };
      return { name, ok: true, detail: `${await versionOf(path)} at ${path}` };
    }),
  );
}

function findOnPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function versionOf(path: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 5_000 });
    return oneLine(stdout.trim().split('\n')[0] ?? '').slice(0, 80);
  } catch {
    return 'version unknown (it did not answer --version)';
  }
}
