import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';

import { bundles } from '../../scripts/bundles.mjs';
import { atFileEnd } from '../harness/at-file-end.ts';

/** A process that tells on stdout, line by line, what it has done. */
export interface MailProcess {
  /** What it told so far. */
  reported: string[];
  child: ChildProcess;
  /** Settles with the end of the process and of its output. */
  ended: Promise<{ code: number | null; stderr: string }>;
}

const bundleByScript = new Map<string, string>();

/** The script as one file, made once for a test file: to translate it at each start takes longer than most of what it does. */
function bundled(script: string): string {
  const known = bundleByScript.get(script);
  if (known !== undefined) return known;
  // Inside the repository, for what is native is found from there.
  const cache = fileURLToPath(new URL('../../.cache', import.meta.url));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'mail-'));
  const file = join(folder, script.replace(/\.ts$/, '.mjs'));
  const entryPoints = [fileURLToPath(new URL(script, import.meta.url))];
  buildSync({
    ...bundles.threads,
    plugins: [],
    sourcemap: false,
    entryPoints,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
  });
  bundleByScript.set(script, file);
  atFileEnd(() => {
    bundleByScript.delete(script);
    rmSync(folder, { recursive: true, force: true });
  });
  return file;
}

/** Starts one of the scripts of this folder; it does not outlive the test. */
export function startMailProcess(script: string, args: (string | number)[]): MailProcess {
  const child = spawn(process.execPath, [bundled(script), ...args.map(String)], {
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
