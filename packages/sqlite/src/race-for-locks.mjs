/** For tests: tries to take every lock of a folder, in order, from the moment in which a file appears; keeps what it gets. */
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { lockFile } from './lock-file.ts';

const [start, ...paths] = process.argv.slice(2);
process.stdout.write('ready\n');
const tryLock = (path) => {
  try {
    return lockFile(path, 0);
  } catch (error) {
    return error.code;
  }
};
const timer = setInterval(() => {
  if (!existsSync(start)) return;
  clearInterval(timer);
  const got = paths.map(tryLock);
  process.stdout.write(`${JSON.stringify(got.map((one) => (typeof one === 'string' ? one : 'held')))}\n`);
  // Whoever lets go of the objects lets go of the locks.
  createInterface({ input: process.stdin }).on('close', () => process.exit(got.length - paths.length));
}, 1);
