import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { onTestFinished } from 'vitest';

/** A fault that strace holds over a running process. */
export interface Fault {
  /** Lets go of the process, which runs on. */
  lift(): Promise<void>;
}

/** Makes system calls of a running process fail or wait, on the named file alone. */
export async function injectFault(
  strace: string,
  pid: number,
  fault: { path: string; inject: string },
): Promise<Fault> {
  const calls = fault.inject.split(':')[0] ?? '';
  const child = spawn(
    strace,
    [
      '-f',
      '-p',
      String(pid),
      '-P',
      fault.path,
      '-e',
      `trace=${calls}`,
      '-e',
      `inject=${fault.inject}`,
      '-o',
      '/dev/null',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'close');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('attached')) resolve();
    });
    child.on('close', () => reject(new Error(`strace ended: ${said}`)));
  });
  const lift = async (): Promise<void> => {
    child.kill('SIGINT');
    await ended;
  };
  onTestFinished(lift);
  return { lift };
}
