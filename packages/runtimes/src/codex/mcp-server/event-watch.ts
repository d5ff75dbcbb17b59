import type { Loose } from '../../process/rpc-peer.ts';
import { isObject, numberAt, objectAt, textAt } from '../../process/rpc-peer.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { TokenCount, TokenUsage } from '../backend.ts';
import type { CallBook } from './call-book.ts';
import type { ElicitationHandler } from './elicitation-handler.ts';

/** Follows `codex/event`, the only account of a turn that can be trusted. */
export interface EventWatch {
  take(method: string, params: Loose): void;
}

/** What Codex tells of a turn once it has put into its thread what the turn was given; some versions tell only the later ones. */
const OF_THREAD: ReadonlySet<unknown> = new Set([
  'user_message',
  'item_started',
  'item_completed',
  'agent_message_content_delta',
  'agent_message_delta',
  'agent_message',
]);

/** Tells the book what the events say of each thread. */
export function createEventWatch(
  { threads, emit }: AdapterDeps,
  calls: CallBook,
  handler: ElicitationHandler,
): EventWatch {
  function follow(threadId: string, turnId: string, event: Loose): void {
    const running = threads.get(threadId)?.turn;
    const turn = running?.turnId === undefined || running.turnId === turnId ? running : undefined;
    // What the turn was given comes first: by then it stands in the thread on disk, and the model is asked after that.
    if (turn?.turnId !== undefined && OF_THREAD.has(event['type'])) turn.take();
    switch (event['type']) {
      case 'task_started':
        return calls.begin(threadId, turnId);
      case 'task_complete':
        return calls.endByEvent(threadId, turnId, completion(event), true);
      case 'turn_aborted':
        return calls.endByEvent(threadId, turnId, { status: 'interrupted', ...duration(event) }, false);
      case 'error': {
        const message = textAt(event, 'message') ?? 'no reason given';
        return calls.noteError(threadId, { code: 'model', message, info: event['codex_error_info'] });
      }
      case 'agent_message_content_delta':
      case 'agent_message_delta':
        return turn?.addText(textAt(event, 'item_id') ?? '', textAt(event, 'delta') ?? '');
      case 'item_completed': {
        const item = objectAt(event, 'item');
        if (item['type'] === 'AgentMessage') turn?.setText(textAt(item, 'id') ?? '', textOfItem(item));
        return;
      }
      case 'token_count': {
        const usage = usageOf(objectAt(event, 'info'));
        if (turn !== undefined && usage !== undefined) turn.usage = usage;
        return;
      }
      case 'exec_approval_request':
      case 'apply_patch_approval_request':
        return handler.note(threadId, event);
      case 'elicitation_request':
        // It cannot be answered over this wire, and the turn would wait for ever.
        if (turn === undefined || event['server_name'] === undefined) return;
        turn.verdict = { code: 'unanswerable', message: unanswerable(event) };
        return turn.stop();
      default:
    }
  }

  return {
    take(method, params) {
      const meta = objectAt(params, '_meta');
      const event = objectAt(params, 'msg');
      const threadId = textAt(meta, 'threadId') ?? textAt(event, 'thread_id');
      const turnId = textAt(event, 'turn_id') || textAt(params, 'id') || undefined;
      emit({ threadId, turnId, method, params });
      if (method !== 'codex/event' || threadId === undefined) return;
      calls.bind(meta['requestId'], threadId);
      follow(threadId, turnId ?? '', event);
    },
  };
}

function completion(event: Loose): Parameters<CallBook['endByEvent']>[2] {
  const failure = event['error'];
  if (!isObject(failure))
    return { status: 'completed', text: textAt(event, 'last_agent_message') ?? '', ...duration(event) };
  const message = textAt(failure, 'message') ?? 'no reason given';
  return {
    status: 'failed',
    error: { code: 'model', message, info: failure['codex_error_info'] },
    ...duration(event),
  };
}

function duration(event: Loose): { durationMs?: number } {
  const durationMs = numberAt(event, 'duration_ms');
  return durationMs === undefined ? {} : { durationMs };
}

function textOfItem(item: Loose): string {
  const parts = Array.isArray(item['content']) ? item['content'].filter(isObject) : [];
  return parts.map((part) => textAt(part, 'text') ?? '').join('');
}

function unanswerable(event: Loose): string {
  const asked = textAt(objectAt(event, 'request'), 'message') ?? 'a question';
  return `the MCP server ${textAt(event, 'server_name')} asked what mcp-server cannot pass on: ${asked}`;
}

function usageOf(info: Loose): TokenUsage | undefined {
  const count = (part: Loose): TokenCount => ({
    input: numberAt(part, 'input_tokens') ?? 0,
    cachedInput: numberAt(part, 'cached_input_tokens') ?? 0,
    output: numberAt(part, 'output_tokens') ?? 0,
    reasoningOutput: numberAt(part, 'reasoning_output_tokens') ?? 0,
    total: numberAt(part, 'total_tokens') ?? 0,
  });
  const [last, total] = [info['last_token_usage'], info['total_token_usage']];
  return isObject(last) && isObject(total) ? { last: count(last), thread: count(total) } : undefined;
}
