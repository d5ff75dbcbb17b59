import { isObject, type Loose, numberAt, objectAt, textAt } from '../process/rpc-peer.ts';
import { addRequest, newTurn, type OpenTurn } from './open-turn.ts';
import { recordLine, threadOfWake } from './record-line.ts';
import { endTurn, type RecordState } from './record-state.ts';
import { type Counts, given, type SpentTurn } from './spent-turn.ts';

/** Its words for a request that ended the turn, whatever came out of it. */
const LAST_WORDS: ReadonlySet<string> = new Set(['end_turn', 'stop_sequence', 'max_tokens', 'refusal']);
/** What Claude Code says itself, without a model. */
const NO_MODEL = '<synthetic>';

/** Takes one line of a transcript; gives the turn that is over by it. */
export function takeClaudeLine(state: RecordState, text: string): SpentTurn | undefined {
  // Most lines tell neither, and some are long.
  if (!text.includes('"usage"') && !text.includes('"promptId"')) return undefined;
  const line = recordLine(text);
  if (line?.['type'] === 'user') return takePrompt(state, line);
  if (line?.['type'] === 'assistant') takeRequest(state, line);
  return undefined;
}

/** A prompt that is another one begins a turn; what tools answer belongs to the one that runs. */
function takePrompt(state: RecordState, line: Loose): SpentTurn | undefined {
  const id = textAt(line, 'promptId');
  if (id === undefined) return undefined;
  const isNew = id !== state.turn?.id;
  const spent = isNew ? endTurn(state) : undefined;
  const turn =
    isNew || state.turn === undefined ? newTurn(textAt(line, 'timestamp') ?? '', { id }) : state.turn;
  state.turn = turn;
  // A prompt may come in several lines, before the first request.
  if (turn.key === undefined && turn.thread_id === undefined) {
    const thread = threadOfWake(promptOf(line));
    if (thread !== undefined) turn.thread_id = thread;
  }
  return spent;
}

function takeRequest(state: RecordState, line: Loose): void {
  const message = objectAt(line, 'message');
  const { usage } = message;
  const [at, model = ''] = [textAt(line, 'timestamp'), textAt(message, 'model')];
  const id = textAt(message, 'id') ?? textAt(line, 'uuid');
  if (!isObject(usage) || at === undefined || id === undefined || model === NO_MODEL) return;
  if (at <= state.after || state.reported.includes(id)) return;
  const turn: OpenTurn = (state.turn ??= newTurn(at, {}));
  turn.key ??= `claude ${id} ${textAt(line, 'requestId') ?? ''}`.trim().slice(0, 200);
  turn.at = at;
  turn.isOver = LAST_WORDS.has(textAt(message, 'stop_reason') ?? '');
  addRequest(turn, { id, model, counts: countsOf(usage) });
}

/** Its input comes in three parts, of which two had to do with a cache. */
function countsOf(usage: Loose): Counts {
  const cached = numberAt(usage, 'cache_read_input_tokens');
  const parts = [numberAt(usage, 'input_tokens'), cached, numberAt(usage, 'cache_creation_input_tokens')];
  const counts = parts.filter((part) => part !== undefined);
  return given({
    input: counts.length === 0 ? undefined : counts.reduce((sum, part) => sum + part, 0),
    cached,
    output: numberAt(usage, 'output_tokens'),
    reasoning: numberAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens'),
  });
}

function promptOf(line: Loose): string {
  const { content } = objectAt(line, 'message');
  if (typeof content === 'string') return content;
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  return blocks
    .filter(({ type }) => type === 'text')
    .map((block) => textAt(block, 'text') ?? '')
    .join('\n');
}
