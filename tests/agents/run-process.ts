import { spawn } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a bounded process ended, and which of its descendants outlived it. */
export interface ProcessEnd {
  exitCode: number | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
  leftBehind: string[];
  durationMs: number;
}

/** Runs a program to its end or its time limit, and leaves nothing running: `marker` is a text that only this run's processes carry in their environment. */
export async function runProcess(
  command: string,
  args: string[],
  options: {
    cwd: string;
    env: Record<string, string>;
    marker: string;
    timeoutMs: number;
    graceMs?: number;
  },
): Promise<ProcessEnd> {
  const started = Date.now();
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const onExit = (): void => killGroup(child.pid);
  process.once('exit', onExit);
  const limit = { passed: false };
  const timer = setTimeout(() => {
    limit.passed = true;
    killGroup(child.pid);
  }, options.timeoutMs);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    const durationMs = Date.now() - started;
    const leftBehind = await reap(options.marker, limit.passed ? 0 : (options.graceMs ?? 2000));
    await Promise.race([closed, sleep(1000, undefined, { ref: false })]);
    return { exitCode, timedOut: limit.passed, stdout, stderr, leftBehind, durationMs };
  } finally {
    clearTimeout(timer);
    process.removeListener('exit', onExit);
    killGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

// Clients start MCP servers in groups and sessions of their own, so the group alone does not reach them.
async function reap(marker: string, graceMs: number): Promise<string[]> {
  const deadline = Date.now() + graceMs;
  let alive = await carriers(marker);
  while (alive.length > 0 && Date.now() < deadline) {
    await sleep(50);
    alive = await carriers(marker);
  }
  for (const { pid } of alive) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended in the meantime.
    }
  }
  return alive.map(({ commandLine }) => commandLine);
}

/** The processes that carry a text in their environment. */
export async function carriers(marker: string): Promise<Array<{ pid: number; commandLine: string }>> {
  const found: Array<{ pid: number; commandLine: string }> = [];
  for (const entry of await readdir('/proc').catch(() => [])) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!environ.includes(marker)) continue;
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    found.push({ pid, commandLine: commandLine.replaceAll('\0', ' ').trim() });
  }
  return found;
}
