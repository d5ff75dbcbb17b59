import type { z } from 'zod';

import { invalidParams, proxyError } from '../errors.ts';
import type { Caller } from '../modern/paused-calls.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import type { ToolResult } from '../tool-result.ts';
import { type CodexDeps, runTurn, takeUp, unknownSession } from './codex.ts';
import { CodexArguments, ReplyArguments } from './schemas.ts';

/** `codex-reply`: the next turn of a session; one whose proxy was restarted is taken up again. */
export async function replyCodex(
  deps: CodexDeps,
  args: z.output<typeof ReplyArguments>,
  caller: Caller,
): Promise<ToolResult> {
  const record = recordOf(deps, args);
  const live = deps.sessions.live(record.agent_id);
  if (live === undefined && record.status !== 'stale')
    throw proxyError(
      'SESSION_CLOSED',
      `The session '${record.agent_id}' is closed; call codex with its agent_id to resume it`,
      { agent_id: record.agent_id },
    );
  const session = live ?? (await takeUp(deps, record));
  if (args.auto_mail !== undefined) session.set({ auto_mail: args.auto_mail });
  return runTurn(deps, session, args.prompt, caller, args['developer-instructions']);
}

/** What only `codex` can settle is refused in words that say so. */
export function refuseLaunchArguments(args: unknown): void {
  const given = Object.keys(args ?? {}).filter(
    (key) => Object.hasOwn(CodexArguments.shape, key) && !Object.hasOwn(ReplyArguments.shape, key),
  );
  if (given.length > 0)
    throw proxyError(
      'INVALID_SESSION_PARAMS',
      `codex-reply cannot settle ${given.join(', ')}: close the session and call codex with its agent_id`,
      { arguments: given },
    );
}

function recordOf({ sessions }: CodexDeps, args: z.output<typeof ReplyArguments>): SessionRecord {
  if (args.agent_id !== undefined) {
    const record = sessions.find(args.agent_id);
    if (record === undefined) throw unknownSession(args.agent_id);
    return record;
  }
  const threadId = args.threadId ?? args.conversationId;
  if (threadId === undefined) throw invalidParams('agent_id is needed');
  const record = sessions.findThread(threadId);
  if (record === undefined) throw unknownSession(threadId);
  return record;
}
