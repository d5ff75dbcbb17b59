import { findProgram } from '../process/find-program.ts';
import { type HeadlessEvents, type HeadlessTurn, startHeadless } from '../process/headless.ts';
import { textAt } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';

export interface ClaudePrintOptions {
  bin: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  prompt: string;
  /** The session to go on with; it must be open nowhere else, for Claude Code has no lock of its own. */
  resume?: string;
  /** The id of a new session. */
  sessionId?: string;
  /** Further arguments, such as `--allowedTools mcp__parley`. */
  args?: readonly string[];
}

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The arguments of one `claude -p`; the prompt comes by the input. */
export function claudePrintArguments(
  options: Pick<ClaudePrintOptions, 'resume' | 'sessionId' | 'args'>,
): string[] {
  const { resume, sessionId, args = [] } = options;
  for (const id of [resume, sessionId])
    if (id !== undefined && !SESSION_ID.test(id))
      throw new RuntimeError('THREAD_NOT_FOUND', 'this is no id of a Claude Code session');
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    ...(resume === undefined ? [] : ['--resume', resume]),
    ...(sessionId === undefined ? [] : ['--session-id', sessionId]),
    ...args,
  ];
}

const EVENTS: HeadlessEvents = {
  session: (event) => textAt(event, 'session_id'),
  // Before its first request it names the session that the prompt went into.
  isWorking: ({ type, subtype }) => (type === 'system' && subtype === 'init') || type === 'assistant',
  end(event) {
    if (event['type'] !== 'result') return undefined;
    const ok = event['is_error'] !== true;
    const text = textAt(event, 'result') ?? textAt(event, 'subtype') ?? '';
    return { ok, detail: ok ? 'turn completed' : text };
  },
};

/** Runs one turn by `claude -p`. */
export async function startClaudePrint(options: ClaudePrintOptions): Promise<HeadlessTurn> {
  const { bin, env, cwd, prompt, resume, sessionId } = options;
  const args = claudePrintArguments(options);
  const command = findProgram(bin, env, cwd);
  return startHeadless({ command, args, env, cwd, prompt, expects: resume ?? sessionId, events: EVENTS });
}
