import { spawn } from 'node:child_process';

/**
 * Ends a process group when this process is gone, however it went: a child that is stuck does not heed the end of
 * its input. Returns how to call the guard off.
 */
export function guardGroup(group: number): () => void {
  if (process.platform === 'win32') return () => {};
  const send = (signal: string): string => `sleep 1; kill -s ${signal} -- -${group} || exit 0; `;
  const script = `read -r _; ${send('TERM')}${send('KILL')}`;
  const guard = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without a shell there is no guard, and nothing else to do about it.
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  guard.unref();
  if ('unref' in guard.stdin) (guard.stdin as unknown as { unref(): void }).unref();
  return () => {
    guard.kill('SIGKILL');
  };
}
