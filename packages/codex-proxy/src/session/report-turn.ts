import type { ChildExit, TurnResult } from '@parley/runtimes';

import { childFault, deadChild, howEnded } from '../child-fault.ts';
import { proxyError } from '../errors.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import type { ToolResult } from '../tool-result.ts';
import type { TurnReport } from './session.ts';

/** Turns what a turn came to into the client's answer: a result, or the error that is thrown. */
export function reportTurn(
  { how, end }: TurnReport,
  record: SessionRecord,
  { timeoutSecs, exit }: { timeoutSecs: number; exit: ChildExit | undefined },
): ToolResult {
  const { agent_id } = record;
  const said = end === undefined || end instanceof Error || end.text === '' ? null : end.text;
  const facts = { agent_id, partial_result: said };
  switch (how) {
    case 'timed_out':
      throw proxyError('REQUEST_TIMEOUT', `The turn took longer than ${timeoutSecs} s and was interrupted`, {
        ...facts,
        timeout_secs: timeoutSecs,
      });
    case 'closed':
      throw proxyError('SESSION_CLOSED', `The session '${agent_id}' was closed`, facts);
    case 'dead':
      throw deadChild(howEnded(exit), exit, facts);
    case 'cancelled':
      return failed(record, said === null ? 'The turn was cancelled.' : `${said}\n\nThe turn was cancelled.`);
    case 'result':
      break;
  }
  if (end === undefined) throw deadChild('it gave no result', exit, facts);
  if (end instanceof Error) throw childFault(end, { agent_id });
  return settled(end, record);
}

function settled(turn: TurnResult, record: SessionRecord): ToolResult {
  if (turn.status === 'completed') return succeeded(record, turn.text);
  const { error } = turn;
  const message = error?.message ?? 'The turn was interrupted.';
  if (error?.code === 'child_exited' || error?.code === 'closed')
    throw deadChild(message, error.exit, {
      agent_id: record.agent_id,
      partial_result: turn.text === '' ? null : turn.text,
    });
  return failed(record, turn.text === '' ? message : `${turn.text}\n\n${message}`);
}

function succeeded(record: SessionRecord, text: string): ToolResult {
  const { agent_id, identity, backend_id } = record;
  return {
    content: [
      { type: 'text', text },
      { type: 'text', text: `[agent_id: ${agent_id}, identity: ${identity}]` },
    ],
    structuredContent: { threadId: backend_id, content: text, agent_id, identity },
  };
}

function failed(record: SessionRecord, text: string): ToolResult {
  return { ...succeeded(record, text), isError: true };
}
