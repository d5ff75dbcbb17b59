import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { onTestFinished } from 'vitest';

import { temporaryFolder } from './crash-hub.ts';

const script = fileURLToPath(new URL('./forgetful-fs.py', import.meta.url));

/** A mounted folder of which a power loss leaves only what was fsynced. */
export interface ForgetfulFolder {
  path: string;
  /** What the disk would hold if the power failed now: nothing unsynced, or a seeded draw of it. */
  losePower(how: 'strict' | number): string;
}

/** Mounts an empty forgetful folder for one test. */
export async function mountForgetful(python: string): Promise<ForgetfulFolder> {
  const scratch = temporaryFolder();
  const path = join(scratch, 'mounted');
  const images = join(scratch, 'images');
  for (const folder of [path, images]) mkdirSync(folder);
  const child = spawn(python, [script, path, images], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    spawnSync('fusermount', ['-u', '-z', path]);
    await ended;
  });
  const outside = statSync(scratch).dev;
  while (statSync(path).dev === outside) {
    if (child.exitCode !== null) throw new Error('the forgetful file system did not mount');
    await sleep(20);
  }
  return {
    path,
    losePower(how) {
      try {
        openSync(join(path, `.power-loss.${how}`), 'w');
      } catch {
        // The command is no file: asking for it is all.
      }
      const image = join(images, String(how));
      if (!existsSync(image)) throw new Error('the forgetful file system wrote no image');
      return image;
    },
  };
}
