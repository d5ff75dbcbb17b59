import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { onTestFinished } from 'vitest';

/** A process that tells on stdout, line by line, what it has done. */
export interface MailProcess {
  /** What it told so far. */
  reported: string[];
  child: ChildProcess;
  /** Settles with the end of the process and of its output. */
  ended: Promise<{ code: number | null; stderr: string }>;
}

/** Starts one of the scripts of this folder; it does not outlive the test. */
export function startMailProcess(script: string, args: (string | number)[]): MailProcess {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const reported: string[] = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  createInterface({ input: child.stdout }).on('line', (line) => void reported.push(line));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  return { reported, child, ended };
}

/** Waits for the good end of processes. */
export async function allDone(...processes: MailProcess[]): Promise<void> {
  for (const { ended } of processes) {
    const { code, stderr } = await ended;
    if (code !== 0) throw new Error(`a process ended with ${code}: ${stderr}`);
  }
}
