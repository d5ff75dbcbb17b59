import { execFile } from 'node:child_process';

export interface Question {
  command: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  timeoutMs: number;
  /** Nobody wants to know any more. */
  signal?: AbortSignal;
}

/** All that a program says to some arguments, within bounds; empty where it says nothing. */
export function askProgram(question: Question, args: string[]): Promise<string> {
  const { command, env, cwd, timeoutMs, signal } = question;
  return new Promise((resolve) => {
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 1_048_576 } as const;
    const options = { env, cwd, ...limits, ...(signal === undefined ? {} : { signal }) };
    const child = execFile(command, args, options, (_error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}`),
    );
    // Whoever serves instead of answering sees the end of its input.
    child.stdin?.on('error', () => {}).end();
  });
}

/** The version in what a program says to `--version`. */
export async function versionOf(question: Question): Promise<string | undefined> {
  return /\b(\d+\.\d+\.\d+\S*)/.exec(await askProgram(question, ['--version']))?.[1];
}
