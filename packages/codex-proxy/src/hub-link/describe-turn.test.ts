import { AgentEvent } from '@parley/protocol';
import { describeEvent, type TurnResult } from '@parley/runtimes';
import { expect, test } from 'vitest';

import { describeEnd, describeStart, failureOf } from './describe-turn.ts';

const event = (method: string, params: Record<string, unknown>) =>
  describeEvent({ threadId: 't', turnId: undefined, method, params });
const result = (given: Partial<TurnResult>): TurnResult => ({
  threadId: 't',
  turnId: undefined,
  status: 'completed',
  text: 'done',
  durationMs: 5,
  ...given,
});

test.each([
  [
    'item/completed',
    { item: { type: 'commandExecution', command: 'ls', cwd: '/w', exitCode: 2 } },
    'ran: ls (exit 2)',
  ],
  [
    'item/completed',
    { item: { type: 'commandExecution', command: 'ls', exitCode: null } },
    'did not run: ls',
  ],
  [
    'codex/event',
    { msg: { type: 'exec_command_end', command: ['ls', '-l'], exit_code: 0 } },
    'ran: ls -l (exit 0)',
  ],
  [
    'item/completed',
    { item: { type: 'fileChange', changes: [{ path: 'a' }], status: 'completed' } },
    'changed a',
  ],
  [
    'codex/event',
    { msg: { type: 'patch_apply_end', changes: { a: {} }, success: false } },
    'did not change a',
  ],
  ['error', { error: { message: 'reconnecting' }, willRetry: true }, 'reconnecting'],
  ['codex/event', { msg: { type: 'stream_error', message: 'reconnecting' } }, 'reconnecting'],
])('%s %j is told', (method, params, message) => {
  expect(event(method, params)?.data?.['message']).toBe(message);
});

test.each([
  ['item/completed', {}],
  ['item/completed', { item: null }],
  ['item/completed', { item: { type: 'agentMessage', text: 'x' } }],
  ['error', {}],
  ['codex/event', {}],
  ['codex/event', { msg: { type: 'raw_response_item', item: 'the whole prompt' } }],
])('%s %j is not', (method, params) => {
  expect(event(method, params)).toBeUndefined();
});

test('whatever is told fits into the record, and has no secret in it', () => {
  const long = `sk-${'a'.repeat(40)} \0\uD800${'\u0001'.repeat(100_000)}`;
  const many = Array.from({ length: 500 }, (_, n) => ({ path: `${n}/${long}` }));
  for (const reported of [
    event('item/completed', { item: { type: 'commandExecution', command: long, cwd: long, exitCode: 0 } }),
    event('item/completed', { item: { type: 'fileChange', changes: many, status: 'completed' } }),
    describeStart({ source: 'client', prompt: long }),
    describeEnd({ end: result({ text: long }), stop: undefined }),
    describeEnd({ end: new Error(long), stop: undefined }),
  ]) {
    expect(AgentEvent.safeParse(reported).error).toBeUndefined();
    expect(JSON.stringify(reported)).not.toContain('sk-a');
  }
});

test('a turn that someone ended is no failure, one that ran out of time or broke is', () => {
  const interrupted = result({ status: 'interrupted' });
  expect(failureOf({ end: result({}), stop: undefined })).toBeUndefined();
  expect(failureOf({ end: interrupted, stop: 'cancelled' })).toBeUndefined();
  expect(failureOf({ end: interrupted, stop: 'timed_out' })).toMatch(/too long/);
  expect(failureOf({ end: new Error('gone'), stop: undefined })).toBe('gone');
  expect(describeEnd({ end: interrupted, stop: 'timed_out' })).toMatchObject({
    event_type: 'task_failed',
    data: { status: 'timed_out', last_message: 'done' },
  });
});
