import { openChild } from '../process/child.ts';
import { RuntimeError } from '../runtime-error.ts';
import type { BackendName } from './backend.ts';

/** Which server of the binary is used, and why. */
export interface BackendChoice {
  backend: BackendName;
  reason: string;
  version: string | undefined;
}

export interface Question {
  command: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  timeoutMs: number;
  /** Nobody wants to know any more; its reason is thrown. */
  signal: AbortSignal;
}

/** The first release whose app-server speaks the protocol that this driver knows. */
const OLDEST_APP_SERVER = [0, 153] as const;

const MOST_BYTES = 65_536;
const MOST_LINES = 1_000;

/** Asks the binary what it has: newer ones take an unknown server's name for a prompt and open a terminal. */
export async function chooseBackend(
  question: Question,
  wanted: 'auto' | BackendName,
): Promise<BackendChoice> {
  const version = /\b(\d+\.\d+\.\d+\S*)/.exec(await ask(question, ['--version']))?.[1];
  if (wanted !== 'auto') {
    if ((await has(question, wanted)) !== 'no') return { backend: wanted, version, reason: 'as configured' };
    throw new RuntimeError('BACKEND_MISSING', `codex ${version ?? 'of unknown version'} has no ${wanted}`);
  }
  const name = `codex ${version ?? 'of unknown version'}`;
  const appServer = await has(question, 'app-server');
  if (appServer === 'yes' && !isOlder(version))
    return { backend: 'app-server', version, reason: `${name} has an app-server` };
  const mcpServer = await has(question, 'mcp-server');
  if (mcpServer === 'yes') {
    const reason =
      appServer === 'yes'
        ? `the app-server of ${name} is older than the one this driver knows`
        : `${name} has no app-server`;
    return { backend: 'mcp-server', version, reason };
  }
  if (appServer === 'yes')
    return { backend: 'app-server', version, reason: `${name} has nothing but an old app-server` };
  if (mcpServer === 'unknown' && appServer === 'unknown')
    return { backend: 'mcp-server', version, reason: `${name} does not say what it has` };
  throw new RuntimeError('BACKEND_MISSING', `${name} has neither an app-server nor an mcp-server`);
}

async function has(question: Question, server: BackendName): Promise<'yes' | 'no' | 'unknown'> {
  const help = await ask(question, [server, '--help']);
  const usage = /^Usage:.*$/m.exec(help)?.[0];
  if (usage === undefined) return /unrecognized subcommand/.test(help) ? 'no' : 'unknown';
  return usage.includes(` ${server}`) ? 'yes' : 'no';
}

function isOlder(version: string | undefined): boolean {
  if (version === undefined) return false;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_APP_SERVER;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

/** What the binary says to this; it is gone, with its whole group, when this settles. */
async function ask({ command, env, cwd, timeoutMs, signal }: Question, args: string[]): Promise<string> {
  signal.throwIfAborted();
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
  const { stderr } = await child.close({ eofMs: timeoutMs, termMs: 0, hurry: signal });
  signal.throwIfAborted();
  return [...lines, stderr].join('\n');
}
