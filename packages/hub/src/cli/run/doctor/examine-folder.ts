import { lstatSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { FILES } from '../../../data-folder.ts';
import type { Check } from './check.ts';

/** Below this the disk is as good as full: the log may need room to fold its journal back. */
const LITTLE_ROOM = 128 * 1024 * 1024;

/** The data folder must be 0700 and each file in it a plain 0600 one. */
export function checkFiles(folder: string): Check[] {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined)
    return [{ name: 'folder', ok: true, detail: `${folder} is not there yet; the first start makes it` }];
  const wrong: string[] = [];
  if (!stat.isDirectory()) wrong.push('is no folder');
  if (process.getuid !== undefined && stat.uid !== process.getuid()) wrong.push('belongs to another user');
  if ((stat.mode & 0o077) !== 0) wrong.push(`has mode ${modeOf(stat.mode)} instead of 0700`);
  const files = FILES.flatMap((name) => {
    const file = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (file === undefined) return [];
    if (!file.isFile() || file.nlink !== 1) return [`${name} is no plain file of its own`];
    return (file.mode & 0o077) === 0 ? [] : [`${name} has mode ${modeOf(file.mode)} instead of 0600`];
  });
  return [
    {
      name: 'folder',
      ok: wrong.length === 0,
      detail: `${folder} ${wrong.length === 0 ? 'has mode 0700' : wrong.join(', ')}`,
    },
    { name: 'files', ok: files.length === 0, detail: files.length === 0 ? 'all private' : files.join('; ') },
  ];
}

/** There must be room for the log to grow. */
export function checkDisk(folder: string): Check {
  let place = folder;
  while (lstatSync(place, { throwIfNoEntry: false }) === undefined && dirname(place) !== place)
    place = dirname(place);
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  return { name: 'disk', ok: free > LITTLE_ROOM, detail: `${Math.floor(free / 1_048_576)} MiB free` };
}

function modeOf(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`;
}
