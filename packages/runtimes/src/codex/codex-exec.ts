import { type HeadlessEvents, type HeadlessTurn, startHeadless } from '../process/headless.ts';
import { isObject, objectAt, textAt } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';
import { findCodex } from './find-codex.ts';

export interface CodexExecOptions {
  bin: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  prompt: string;
  /** The thread to go on with; a new one when left out. */
  threadId?: string;
  /** Further arguments, such as `--sandbox workspace-write`. */
  args?: readonly string[];
}

/** A thread's id: Codex takes any other word for the name of a new session. */
const THREAD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The arguments of one `codex exec`; the prompt comes by the input. */
export function codexExecArguments({
  threadId,
  args = [],
}: Pick<CodexExecOptions, 'threadId' | 'args'>): string[] {
  if (threadId === undefined) return ['exec', '--json', '--skip-git-repo-check', ...args, '-'];
  if (!THREAD_ID.test(threadId))
    throw new RuntimeError('THREAD_NOT_FOUND', 'this is no id of a Codex thread');
  return ['exec', 'resume', '--json', '--skip-git-repo-check', ...args, threadId, '-'];
}

const EVENTS: HeadlessEvents = {
  session: (event) => (event['type'] === 'thread.started' ? textAt(event, 'thread_id') : undefined),
  isWorking: ({ type }) => type === 'turn.started',
  end(event) {
    if (event['type'] === 'turn.completed') return { ok: true, detail: 'turn completed' };
    if (event['type'] === 'turn.failed')
      return { ok: false, detail: textAt(objectAt(event, 'error'), 'message') ?? 'turn failed' };
    if (event['type'] === 'error' && !isObject(event['error']))
      return { ok: false, detail: textAt(event, 'message') ?? 'error' };
    return undefined;
  },
};

/** Runs one turn by `codex exec`: in a thread that nobody else has open, or in a new one. */
export async function startCodexExec(options: CodexExecOptions): Promise<HeadlessTurn> {
  const { bin, env, cwd, prompt, threadId } = options;
  const args = codexExecArguments(options);
  const { path: command } = await findCodex(bin, env, cwd);
  return startHeadless({ command, args, env, cwd, prompt, expects: threadId, events: EVENTS });
}
