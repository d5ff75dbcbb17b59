import { type ChildExit, RuntimeError, type RuntimeErrorCode, type TurnResult } from '@parley/runtimes';

import { childError, proxyError, RpcError } from '../errors.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import type { TurnReport } from './session.ts';

/** The result of a tool, as MCP has it. */
export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

const DEAD_CODES: ReadonlySet<RuntimeErrorCode> = new Set([
  'SPAWN_FAILED',
  'BACKEND_MISSING',
  'START_FAILED',
  'CHILD_EXITED',
  'CLOSED',
]);

/** Turns what a turn came to into the client's answer: a result, or the error that is thrown. */
export function reportTurn({ how, end }: TurnReport, record: SessionRecord, timeoutSecs: number): ToolResult {
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
      throw proxyError('CHILD_PROCESS_DEAD', 'The Codex process is not running', facts);
    case 'cancelled':
      return failed(record, said === null ? 'The turn was cancelled.' : `${said}\n\nThe turn was cancelled.`);
    case 'result':
      break;
  }
  if (end === undefined) throw proxyError('CHILD_PROCESS_DEAD', 'The Codex process gave no result', facts);
  if (end instanceof Error) throw refused(end, agent_id);
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

/** The driver's own refusals, before any turn began. */
function refused(error: Error, agentId: string): RpcError {
  const facts = { agent_id: agentId };
  if (error instanceof RpcError) return error;
  if (!(error instanceof RuntimeError)) return childError(error.message, { message: error.message });
  if (DEAD_CODES.has(error.code)) return deadChild(error.message, error.facts.exit, facts);
  return childError(error.message, error.facts.childError ?? { name: error.code, message: error.message });
}

function deadChild(message: string, exit: ChildExit | undefined, facts: Record<string, unknown>): RpcError {
  return proxyError('CHILD_PROCESS_DEAD', `The Codex process is not running: ${message}`, {
    ...facts,
    exit_code: exit?.code ?? null,
    signal: exit?.signal ?? null,
  });
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
