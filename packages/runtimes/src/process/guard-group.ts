import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/** The whole guard: it is told of groups line by line, and when its input ends, those left get a second for each signal. */
const SCRIPT = `
const groups = new Set();
let rest = '';
const send = (signal) => {
  for (const group of groups) {
    try {
      process.kill(-group, signal);
    } catch {
      groups.delete(group);
    }
  }
};
process.stdin.setEncoding('utf8').on('error', () => {}).on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) groups[line[0] === '+' ? 'add' : 'delete'](Number(line.slice(1)));
}).on('close', () => {
  if (groups.size === 0) return;
  setTimeout(send, 1000, 'SIGTERM');
  setTimeout(send, 2000, 'SIGKILL');
});
`;

/** One for the whole process, whose end it waits for. */
let guard: ChildProcessByStdio<Writable, null, null> | undefined;

/**
 * Ends a process group when this process is gone, however it went: a child that is stuck does not heed the end of
 * its input. The guard is Node itself, without a shell. Returns how to call it off.
 */
export function guardGroup(group: number): () => void {
  if (process.platform === 'win32') return () => {};
  const { stdin } = (guard ??= startGuard());
  stdin.write(`+${group}\n`);
  return () => void stdin.write(`-${group}\n`);
}

function startGuard(): NonNullable<typeof guard> {
  const started = spawn(process.execPath, ['-e', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    // NODE_OPTIONS are meant for programs of the user.
    env: {},
  });
  const gone = (): void => {
    if (guard === started) guard = undefined;
  };
  // Without Node's own program there is no guard, and nothing else to do about it.
  started.on('error', gone).on('exit', gone);
  started.stdin.on('error', () => {});
  started.unref();
  if ('unref' in started.stdin && typeof started.stdin.unref === 'function') started.stdin.unref();
  return started;
}
