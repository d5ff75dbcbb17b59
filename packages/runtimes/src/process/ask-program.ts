import { openChild } from './child.ts';

/** A program to be asked about itself. */
export interface Question {
  command: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  timeoutMs: number;
  /** Nobody wants to know any more; its reason is thrown. */
  signal?: AbortSignal;
}

const MOST_BYTES = 65_536;
const MOST_LINES = 1_000;

/** What a program says to these arguments; it is gone, with its whole group, when this settles. */
export async function askProgram(question: Question, args: string[]): Promise<string> {
  const { command, env, cwd, timeoutMs, signal } = question;
  signal?.throwIfAborted();
  const lines: string[] = [];
  const child = await openChild({
    command,
    args,
    env,
    cwd,
    maxLineBytes: MOST_BYTES,
    maxBacklogBytes: MOST_BYTES,
    onLine: (line) => void (lines.length < MOST_LINES && lines.push(line)),
    onOversized: () => {},
    onExit: () => {},
  });
  // Whoever serves instead of answering sees the end of its input.
  const { stderr } = await child.close({ eofMs: timeoutMs, termMs: 0, ...(signal && { hurry: signal }) });
  signal?.throwIfAborted();
  return [...lines, stderr].join('\n');
}

/** The version in what a program says to `--version`. */
export async function versionOf(question: Question): Promise<string | undefined> {
  return /\b(\d+\.\d+\.\d+\S*)/.exec(await askProgram(question, ['--version']))?.[1];
}
