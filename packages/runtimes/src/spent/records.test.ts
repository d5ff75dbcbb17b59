import { expect, test } from 'vitest';

import { takeClaudeLine } from './claude-record.ts';
import { takeCodexLine } from './codex-record.ts';
import { endTurn, type RecordState } from './record-state.ts';
import type { SpentTurn } from './spent-turn.ts';

const THREAD = 'th_01M7R35W17FMMYMMX99QQSZ0XC';
const WAKE = `[parley] bob, you have unread messages in thread ${THREAD} from alice (wake wk_01M7, asked for by alice).\nCall the hub's tool`;

/** What a record tells, line by line; what stands open at the end is ended. */
function turnsOf(
  take: (state: RecordState, line: string) => SpentTurn | undefined,
  lines: object[],
  after = '2026-11-18T00:00:00.000Z',
): SpentTurn[] {
  let state: RecordState = { after, reported: [] };
  const turns: SpentTurn[] = [];
  for (const line of lines) {
    const turn = take(state, JSON.stringify(line));
    if (turn !== undefined) turns.push(turn);
    // It is kept on disk between any two lines.
    state = JSON.parse(JSON.stringify(state)) as RecordState;
  }
  const last = endTurn(state);
  return last === undefined ? turns : [...turns, last];
}

const at = (second: number): string => `2026-11-18T20:28:${String(second).padStart(2, '0')}.035Z`;

/** As Claude Code 2.1.325 writes them, without what is not read. */
const prompt = (promptId: string, second: number, content: unknown = 'hello', more: object = {}) => ({
  parentUuid: null,
  isSidechain: false,
  promptId,
  type: 'user',
  message: { role: 'user', content },
  timestamp: at(second),
  sessionId: '51912d40-45e8-453b-a60c-18a71f9d9745',
  ...more,
});
const answer = (id: string, second: number, usage: object, more: object = {}, line: object = {}) => ({
  isSidechain: false,
  message: { id, model: 'claude-opus-5-5', role: 'assistant', stop_reason: 'end_turn', usage, ...more },
  requestId: `req_${id}`,
  type: 'assistant',
  uuid: `uuid-${id}`,
  timestamp: at(second),
  ...line,
});
const used = (input: number, output: number, cached = 0, written = 0) => ({
  input_tokens: input,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: cached,
  output_tokens: output,
  output_tokens_details: { thinking_tokens: 1 },
  service_tier: 'standard',
});

test('Claude Code: a message of several lines counts once, by the line that wrote most', () => {
  const lines = [
    prompt('p1', 1),
    answer('msg_1', 2, used(10, 1, 100, 20), { stop_reason: null }),
    answer('msg_1', 2, used(10, 40, 100, 20), { stop_reason: 'tool_use' }),
    answer('msg_1', 2, used(10, 1, 100, 20), { stop_reason: null }),
    prompt('p1', 3, [{ type: 'tool_result', content: WAKE }]),
    answer('msg_2', 4, used(5, 7)),
    { type: 'system', subtype: 'turn_duration', timestamp: at(5) },
    { type: 'cost-state', totalCostUSD: 1, modelUsage: {} },
    prompt('p2', 6),
    answer('msg_3', 7, used(1, 2), { model: 'claude-haiku' }),
  ];
  expect(turnsOf(takeClaudeLine, lines)).toEqual([
    {
      key: 'claude msg_1 req_msg_1',
      at: at(4),
      usage: {
        model: 'claude-opus-5-5',
        input_tokens: 135,
        cached_input_tokens: 100,
        output_tokens: 47,
        reasoning_tokens: 2,
      },
    },
    expect.objectContaining({ key: 'claude msg_3 req_msg_3', at: at(7) }),
  ]);
});

test('Claude Code: of several models the one that wrote most is named; a long turn is summed up', () => {
  const lines = [
    prompt('p1', 1),
    answer('a', 2, used(1, 5), { model: 'haiku' }),
    ...Array.from({ length: 100 }, (_, i) => answer(`b${i}`, 3, used(1, 1))),
  ];
  expect(turnsOf(takeClaudeLine, lines)[0]?.usage).toMatchObject({
    model: 'claude-opus-5-5',
    input_tokens: 101,
    output_tokens: 105,
  });
});

test('Claude Code: what a fork or a resumed session holds from before counts for nothing', () => {
  // A fork gives its copies the id of its own first prompt.
  const lines = [
    prompt('p1', 1),
    answer('msg_1', 2, used(10, 5)),
    prompt('p1', 9, 'forked'),
    answer('msg_2', 10, used(3, 4)),
  ];
  expect(turnsOf(takeClaudeLine, lines, at(5))).toEqual([
    expect.objectContaining({
      key: 'claude msg_2 req_msg_2',
      usage: expect.objectContaining({ input_tokens: 3 }),
    }),
  ]);
});

test('Claude Code: a line that comes again after its turn was reported is passed over', () => {
  const state: RecordState = { after: '', reported: [] };
  const take = (line: object) => takeClaudeLine(state, JSON.stringify(line));
  take(prompt('p1', 1));
  take(answer('msg_1', 2, used(10, 5)));
  expect(endTurn(state)?.usage).toMatchObject({ output_tokens: 5 });
  take(answer('msg_1', 2, used(10, 5)));
  expect(endTurn(state)).toBeUndefined();
  // The same prompt goes on, as after a hook that wants more.
  take(answer('msg_2', 3, used(1, 1)));
  expect(endTurn(state)).toMatchObject({ key: 'claude msg_2 req_msg_2' });
});

test('Claude Code: a thread is known for a prompt that is a wake, however it came, and for nothing else', () => {
  const wakes = [
    prompt('p1', 1, WAKE),
    answer('a', 2, used(1, 1)),
    prompt('p2', 3, '<system-reminder>', { isMeta: true }),
    prompt('p2', 3, [{ type: 'text', text: `<task-notification>${WAKE}` }]),
    answer('b', 4, used(1, 1)),
    prompt('p3', 5, 'what is this thread?'),
    answer('c', 6, used(1, 1), { stop_reason: 'tool_use' }),
    prompt('p3', 7, [{ type: 'text', text: WAKE }]),
  ];
  expect(turnsOf(takeClaudeLine, wakes).map(({ thread_id }) => thread_id)).toEqual([
    THREAD,
    THREAD,
    undefined,
  ]);
});

test('Claude Code: fields that are missing are left out, and lines without counts tell nothing', () => {
  const lines = [
    answer('a', 1, { output_tokens: 3 }, { model: undefined }),
    answer('b', 1, used(99, 99), { model: '<synthetic>' }),
    answer('c', 1, used(0, 0)),
    { type: 'assistant', message: { usage: used(9, 9) } },
    { type: 'assistant', message: 'usage', timestamp: at(2) },
    { promptId: 7, type: 'user', timestamp: 1 },
  ];
  expect(turnsOf(takeClaudeLine, lines)).toEqual([
    expect.objectContaining({
      key: 'claude a req_a',
      usage: { output_tokens: 3, input_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 1 },
    }),
  ]);
  expect(
    turnsOf(takeClaudeLine, [answer('a', 1, { output_tokens: 3 }, { model: undefined })])[0]?.usage,
  ).toEqual({
    output_tokens: 3,
  });
  const state: RecordState = { after: '', reported: [] };
  for (const line of ['{"usage"', '"usage"', 'null "usage"', '[{"usage":1}]'])
    expect(takeClaudeLine(state, line)).toBeUndefined();
  expect(endTurn(state)).toBeUndefined();
});

/** As Codex 0.166.0 and 0.153.4 write them. */
const OWN = '01a1f05b-1b19-7c13-bf07-0e74a60acb2c';
const line = (type: string, second: number, payload: object) => ({
  timestamp: at(second),
  ordinal: 0,
  type,
  payload,
});
const event = (type: string, second: number, more: object = {}) =>
  line('event_msg', second, { type, ...more });
const head = (more: object = {}) =>
  line('session_meta', 1, { session_id: OWN, id: OWN, originator: 'codex-tui', source: 'cli', ...more });
const request = (response_id: string, second: number, more: object = {}) =>
  line('token_usage_record', second, {
    thread_id: OWN,
    turn_id: 't1',
    response_id,
    usage: {
      input_tokens: 1200,
      cached_input_tokens: 1000,
      cache_write_input_tokens: 0,
      output_tokens: 50,
      reasoning_output_tokens: 20,
      total_tokens: 1250,
    },
    ...more,
  });

test('Codex: the requests of a turn are added up, also of a compaction; counts that come again tell nothing', () => {
  const info = { total_token_usage: { input_tokens: 9_999, output_tokens: 9_999 } };
  const lines = [
    head(),
    event('task_started', 2, { turn_id: 't1' }),
    line('turn_context', 2, { turn_id: 't1', model: 'gpt-5.5' }),
    request('r1', 3),
    event('token_count', 3, { info }),
    request('r2', 4),
    event('token_count', 4, { info }),
    event('task_complete', 5, { turn_id: 't1' }),
    event('task_started', 6, { turn_id: 't2' }),
    request('r3', 7),
    event('turn_aborted', 8, { turn_id: 't2' }),
  ];
  expect(turnsOf(takeCodexLine, lines)).toEqual([
    {
      key: 'codex t1 r1',
      at: at(4),
      usage: {
        model: 'gpt-5.5',
        input_tokens: 2400,
        cached_input_tokens: 2000,
        output_tokens: 100,
        reasoning_tokens: 40,
      },
    },
    expect.objectContaining({ key: 'codex t2 r3', usage: expect.objectContaining({ model: 'gpt-5.5' }) }),
  ]);
});

test('Codex: a fork’s copies of another thread count for nothing, whatever time they bear', () => {
  const parent = '01a1f05a-0000-7c13-bf07-0e74a60acb2c';
  const lines = [
    head({ forked_from_id: parent }),
    line('session_meta', 1, { id: parent, originator: 'codex-tui' }),
    event('task_started', 2, { turn_id: 't0' }),
    request('r0', 2, { thread_id: parent }),
    event('task_complete', 2),
    event('task_started', 3, { turn_id: 't1' }),
    request('r1', 4),
  ];
  expect(turnsOf(takeCodexLine, lines).map(({ key }) => key)).toEqual(['codex t1 r1']);
  expect(turnsOf(takeCodexLine, [head(), request('r1', 4), request('r2', 6)], at(5))).toMatchObject([
    { key: `codex ${OWN} r2` },
  ]);
});

test('Codex: what a driver of ours has in its hands it tells itself', () => {
  for (const originator of ['parley', 'atm-agent-mcp'])
    expect(turnsOf(takeCodexLine, [head({ originator }), request('r1', 2)])).toEqual([]);
});

test('Codex: a wake is known by its prompt', () => {
  const said = (text: string) => ({ item: { type: 'UserMessage', content: [{ type: 'text', text }] } });
  const lines = [
    head(),
    event('task_started', 2, { turn_id: 't1' }),
    event('item_completed', 2, said(WAKE)),
    request('r1', 3),
    event('task_started', 4, { turn_id: 't2' }),
    event('item_completed', 4, said('hello')),
    request('r2', 5),
  ];
  expect(turnsOf(takeCodexLine, lines).map(({ thread_id }) => thread_id)).toEqual([THREAD, undefined]);
});
