import { spawn } from 'node:child_process';

import { cleanEnv, PARLEY } from './start-hub.ts';
import { prepareStore } from './store-profile.ts';

export interface CliOptions {
  data: string;
  wrapper?: readonly string[];
  env?: Record<string, string>;
  stdin?: string;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one `parley` command on a data folder and gives all it said. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const { data, wrapper = [], env = {}, stdin = '' } = options;
  const line: string[] = [...wrapper, process.execPath, PARLEY, ...args, '--data', data];
  const [command = '', ...rest] = line;
  await prepareStore(data);
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, { env: cleanEnv(data, env) });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
    // A command that reads nothing may have closed its end already.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  });
}

/** Runs a command that must succeed, and reads its `--json` output. */
export async function runJson<T>(args: readonly string[], options: CliOptions): Promise<T> {
  const { code, stdout, stderr } = await runCli([...args, '--json'], options);
  if (code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}
