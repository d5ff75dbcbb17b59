import { type Loose, numberAt, objectAt, textAt } from '../process/rpc-peer.ts';
import { addRequest, newTurn } from './open-turn.ts';
import { recordLine, threadOfWake } from './record-line.ts';
import { endTurn, type RecordState } from './record-state.ts';
import { type Counts, given, type SpentTurn } from './spent-turn.ts';

/** The lines that tell something of tokens, turns or a wake; all others stay unread. */
const KINDS =
  /"type":\s?"(?:session_meta|turn_context|token_usage_record|task_started|task_complete|turn_aborted|UserMessage)"/;
const HEAD_CHARS = 400;
/** By these Codex is driven for us, and whoever drives it tells what it used. */
const OUR_CLIENTS: ReadonlySet<string> = new Set(['parley', 'atm-agent-mcp']);

/** Takes one line of a rollout; gives the turn that is over by it. */
export function takeCodexLine(state: RecordState, text: string): SpentTurn | undefined {
  if (!KINDS.test(text.slice(0, HEAD_CHARS))) return undefined;
  const line = recordLine(text);
  if (line === undefined) return undefined;
  const payload = objectAt(line, 'payload');
  const at = textAt(line, 'timestamp') ?? '';
  switch (line['type'] === 'event_msg' ? payload['type'] : line['type']) {
    case 'session_meta':
      takeHead(state, payload);
      return undefined;
    case 'turn_context':
      state.model = textAt(payload, 'model') ?? state.model ?? '';
      return undefined;
    case 'token_usage_record':
      takeRequest(state, payload, at);
      return undefined;
    case 'task_started': {
      const spent = endTurn(state);
      const id = textAt(payload, 'turn_id');
      state.turn = newTurn(at, id === undefined ? {} : { id });
      return spent;
    }
    case 'item_completed': {
      const thread = threadOfWake(JSON.stringify(objectAt(payload, 'item')['content'] ?? ''));
      if (thread !== undefined && state.turn !== undefined) state.turn.thread_id ??= thread;
      return undefined;
    }
    default:
      if (state.turn !== undefined) state.turn.isOver = true;
      return undefined;
  }
}

/** A fork may hold the lines of whom it was forked from; its own head comes first. */
function takeHead(state: RecordState, payload: Loose): void {
  if (state.own !== undefined) return;
  state.own = textAt(payload, 'id') ?? '';
  if (OUR_CLIENTS.has(textAt(payload, 'originator') ?? '')) state.isOurs = true;
}

/** Each request of the model is reported once, with the thread that asked. */
function takeRequest(state: RecordState, payload: Loose, at: string): void {
  const { own, isOurs, after, reported } = state;
  const id = textAt(payload, 'response_id');
  const thread = textAt(payload, 'thread_id');
  if (id === undefined || at <= after || isOurs === true || reported.includes(id)) return;
  if (thread !== undefined && thread !== own) return;
  const turn = (state.turn ??= newTurn(at, {}));
  turn.key ??= `codex ${turn.id ?? own ?? ''} ${id}`.slice(0, 200);
  turn.at = at;
  addRequest(turn, { id, model: state.model ?? '', counts: countsOf(objectAt(payload, 'usage')) });
}

function countsOf(usage: Loose): Counts {
  return given({
    input: numberAt(usage, 'input_tokens'),
    cached: numberAt(usage, 'cached_input_tokens'),
    output: numberAt(usage, 'output_tokens'),
    reasoning: numberAt(usage, 'reasoning_output_tokens'),
  });
}
