import { fieldsOf } from '@parley/protocol';
import type { CodexEvent } from '@parley/runtimes';

import type { Params } from './wire/message.ts';

/** What a client of `codex mcp-server` knows an event of app-server by; the event itself stands beside it, as it came. */
export function eventMessage({ method, params, turnId }: CodexEvent): Params {
  const words = wordsOf(method, params, turnId);
  return words === undefined ? { type: method, params } : { ...words, method, params };
}

function wordsOf(method: string, params: Params, turnId: string | undefined): Params | undefined {
  const turn_id = turnId ?? null;
  switch (method) {
    case 'thread/started': {
      const { id, model, cwd } = fieldsAt(params, 'thread');
      return { type: 'session_configured', session_id: id, thread_id: id, model: model ?? null, cwd };
    }
    case 'turn/started':
      return { type: 'task_started', turn_id };
    case 'turn/completed':
      return turnEnd(fieldsAt(params, 'turn'));
    case 'item/completed':
      return item(fieldsAt(params, 'item'));
    case 'error': {
      const { message, codexErrorInfo } = fieldsAt(params, 'error');
      const type = params['willRetry'] === true ? 'stream_error' : 'error';
      return { type, message, codex_error_info: codexErrorInfo ?? null };
    }
    case 'warning':
      return { type: 'warning', message: params['message'] };
    case 'configWarning':
      return { type: 'warning', message: params['summary'] };
    case 'item/commandExecution/requestApproval': {
      const { itemId, command, cwd, reason } = params;
      return { type: 'exec_approval_request', call_id: itemId, turn_id, command, cwd, reason };
    }
    case 'item/fileChange/requestApproval': {
      const { itemId, reason } = params;
      return { type: 'apply_patch_approval_request', call_id: itemId, turn_id, reason };
    }
    default:
      return undefined;
  }
}

function turnEnd({ id, status, items, error, durationMs }: Params): Params {
  if (status === 'interrupted') return { type: 'turn_aborted', turn_id: id, reason: 'interrupted' };
  const said = (Array.isArray(items) ? items.map(fieldsOf) : []).findLast(
    ({ type }) => type === 'agentMessage',
  );
  return {
    type: 'task_complete',
    turn_id: id,
    last_agent_message: said?.['text'] ?? null,
    duration_ms: durationMs ?? null,
    ...(error === null || error === undefined ? {} : { error }),
  };
}

function item({ type, text, summary, content }: Params): Params | undefined {
  if (type === 'agentMessage') return { type: 'agent_message', message: text };
  if (type !== 'reasoning') return undefined;
  const parts = [summary, content].map((part): unknown[] => (Array.isArray(part) ? part : []));
  const filled = parts.find(({ length }) => length > 0) ?? [];
  return { type: 'agent_reasoning', text: filled.map(String).join('\n') };
}

function fieldsAt(params: Params, key: string): Params {
  const value = params[key];
  return fieldsOf(value);
}
