import { join } from 'node:path';

import type { ChildExit } from '@parley/runtimes';

import { readContext } from '../context/read-context.ts';
import { proxyError } from '../errors.ts';
import type { Log } from '../logger.ts';
import type { LeftBehind } from '../registry/left-behind.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import type { Caller } from '../modern/paused-calls.ts';
import { reportTurn } from '../session/report-turn.ts';
import type { ToolResult } from '../tool-result.ts';
import type { CodexSession } from '../session/session.ts';
import type { Preface } from '../session/session-thread.ts';
import type { Sessions } from '../session/sessions.ts';
import { folderOf, launchOf } from './launch.ts';
import { readAgentFile } from './read-agent-file.ts';
import { namedBy, refuseFixed, reopening, type ReopeningDeps } from './reopening.ts';
import type { CodexArguments } from './schemas.ts';

export interface CodexDeps extends ReopeningDeps {
  sessions: Sessions;
  leftBehind: LeftBehind;
  child: { exit: () => ChildExit | undefined };
  log: Log;
  home: string;
}

const CONTINUE = 'Continue where you left off.';

/** `codex`: a new session by prompt or by file, or one that had ended. */
export async function startCodex(deps: CodexDeps, args: CodexArguments, caller: Caller): Promise<ToolResult> {
  if (args.agent_id !== undefined) return resumeCodex(deps, args, args.agent_id, caller);
  if (args.prompt !== undefined && args.agent_file !== undefined)
    throw proxyError('INVALID_SESSION_PARAMS', 'agent_file and prompt exclude each other');
  const here = await readContext(deps.cwd);
  const cwd = await folderOf(args.cwd, here.repo_root ?? deps.cwd, deps.cwd);
  const file = args.agent_file === undefined ? undefined : await readFileOf(deps, args.agent_file, cwd);
  const prompt = args.prompt ?? file?.text;
  if (prompt === undefined)
    throw proxyError('INVALID_SESSION_PARAMS', 'One of prompt, agent_file and agent_id is needed');
  const source = file === undefined ? {} : { agent_name: file.name, agent_source: file.path };
  const waiting = resumedSession(deps, args.identity ?? deps.settings.identity);
  if (waiting !== undefined) {
    const { launch, change } = await reopening(deps, waiting.record(), args);
    waiting.prepare(launch, { ...change, ...source });
    return runTurn(deps, waiting, prompt, caller);
  }
  const role = args.role ?? deps.settings.role;
  const launch = await launchOf(deps, args, role);
  const made = {
    identity: args.identity ?? deps.settings.identity,
    team: deps.settings.team,
    cwd,
    role,
    tag: args.tag ?? null,
    ...namedBy(args),
    agent_name: null,
    agent_source: null,
    ...source,
    auto_mail: args.auto_mail ?? null,
  };
  return openingTurn(deps, await deps.sessions.begin(made, launch), prompt, caller);
}

/** A session that ended is opened anew on its own thread; one that lives just gets its next turn. */
async function resumeCodex(
  deps: CodexDeps,
  args: CodexArguments,
  agentId: string,
  caller: Caller,
): Promise<ToolResult> {
  if (args.agent_file !== undefined)
    throw proxyError('INVALID_SESSION_PARAMS', 'agent_file and agent_id exclude each other');
  const record = deps.sessions.find(agentId);
  if (record === undefined) throw unknownSession(agentId);
  if (args.identity !== undefined && args.identity !== record.identity)
    throw proxyError('INVALID_SESSION_PARAMS', `The session belongs to the identity '${record.identity}'`, {
      agent_id: agentId,
      identity: record.identity,
    });
  const prompt = args.prompt ?? CONTINUE;
  const live = deps.sessions.live(agentId);
  if (live === undefined) return openingTurn(deps, await takeUp(deps, record, args), prompt, caller);
  refuseFixed(args, live.record(), 'while the session lives; close it first');
  live.set({
    ...(args.tag === undefined ? {} : { tag: args.tag }),
    ...(args.auto_mail === undefined ? {} : { auto_mail: args.auto_mail }),
  });
  return runTurn(deps, live, prompt, caller, args['developer-instructions']);
}

/** Whoever is told an agent_id finds it again, also after a crash. */
async function openingTurn(...turn: Parameters<typeof runTurn>): Promise<ToolResult> {
  const [{ sessions }] = turn;
  try {
    return await runTurn(...turn);
  } finally {
    await sessions.saved();
  }
}

/** Opens an ended session on its thread; what it left behind goes into its first turn. */
export async function takeUp(
  deps: CodexDeps,
  record: SessionRecord,
  args: Partial<CodexArguments> = {},
  goes: Preface['goes'] = 'before_prompt',
): Promise<CodexSession> {
  if (record.backend_id === null) throw unknownSession(record.agent_id);
  const { launch, change } = await reopening(deps, record, args);
  const text = await deps.leftBehind.prefaceOf(record);
  if (text === undefined)
    deps.log('warn', 'a session is resumed without a summary', { agent_id: record.agent_id });
  return deps.sessions.resume(
    { ...record, ...change },
    launch,
    text === undefined ? undefined : { text, goes },
  );
}

/** One turn, to the client's answer. */
export async function runTurn(
  deps: CodexDeps,
  session: CodexSession,
  prompt: string,
  caller: Caller,
  instructions?: string,
): Promise<ToolResult> {
  caller.forAgent(session.agentId);
  const report = await session.turn(prompt, caller.signal, {
    instructions,
    requestId: () => caller.requestId(),
  });
  return reportTurn(report, session.record(), {
    timeoutSecs: deps.settings.request_timeout_secs,
    exit: deps.child.exit(),
  });
}

/** The session that `serve --resume` has taken up and that waits for its first turn. */
function resumedSession({ sessions }: CodexDeps, identity: string): CodexSession | undefined {
  return sessions
    .active()
    .find(
      (session) => session.identity === identity && session.isFresh() && session.threadId() !== undefined,
    );
}

/** No session of this instance ever had that id. */
export function unknownSession(agentId: string): Error {
  return proxyError('SESSION_NOT_FOUND', `There is no session '${agentId}'`, { agent_id: agentId });
}

async function readFileOf(deps: CodexDeps, path: string, cwd: string) {
  const { repo_root } = await readContext(cwd);
  return readAgentFile(path, cwd, [repo_root ?? cwd, join(deps.home, '.claude', 'agents')]);
}
