import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';

import type { LoadOrder, LoadReport } from './load-worker.ts';

/** Runs one order of load in a process of its own. */
export function load(order: LoadOrder): Promise<LoadReport> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('./load-worker.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
    child.once('message', (report) => resolve(report as LoadReport));
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? undefined : reject(new Error(`the load ended with code ${code}`)),
    );
    child.send(order);
  });
}

const TICKS_PER_SECOND = 100;

/** CPU seconds a process and its threads have used so far. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident megabytes of a process. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}
