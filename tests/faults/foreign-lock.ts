import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { onTestFinished } from 'vitest';

/** Lets another program take the lock to write to a database; the answer makes it let go. */
export async function holdLock(database: string): Promise<() => Promise<void>> {
  const script = fileURLToPath(new URL('./hold-lock.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, database], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const release = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  onTestFinished(release);
  await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error('no lock')))]);
  return release;
}
