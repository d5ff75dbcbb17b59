import { journalId, type ThreadState, treeId } from '@parley/core';
import { sumOfHead, sumOfThread } from '@parley/store-rows';
import { expect, test } from 'vitest';

import { listedIn, readThread, sameButForHead, type ThreadRecord } from './thread-record.ts';

const state = {
  thread_id: 't',
  workspace_id: 'w',
  title: 'title',
  status: 'active',
  participants: ['alice'],
  findings: [],
  last_seq: 1,
  updated_at: 'before',
} as unknown as ThreadState;

function record(change: Partial<ThreadRecord> = {}): ThreadRecord {
  const columns = { thread_id: 't', workspace_id: 'w', status: 'active', state: JSON.stringify(state) };
  const head = { last_seq: 4, updated_at: 'now', hash: 'h', speaker: 'bob', run_seq: 3, run_nth: 2 };
  const sums = { sum: sumOfThread(columns), head_sum: sumOfHead({ thread: 7, ...head }) };
  return { id: 7, ...columns, ...head, ...sums, ...change };
}

test('a thread is what its row says, with the head of the other row', () => {
  expect(readThread(record())).toEqual({
    state: { ...state, last_seq: 4, updated_at: 'now' },
    head: 'h',
    open: { sender: 'bob', seq: 3, nth: 2 },
  });
  // The head of a thread without an entry yet, or of before heads knew who wrote last.
  const none = { last_seq: 0, updated_at: '', hash: '', speaker: null, run_seq: null, run_nth: null };
  const bare = record({ ...none, head_sum: sumOfHead({ thread: 7, ...none }) });
  expect(readThread(bare)).toMatchObject({ state: { last_seq: 0 }, head: '', open: undefined });
});

test.each([
  'last_seq',
  'updated_at',
  'hash',
  'speaker',
  'run_seq',
  'run_nth',
  'head_sum',
  'sum',
  'status',
  'state',
] as const)('[R11] a thread whose %s is not as it was written is not served', (column) => {
  const other = column === 'last_seq' || column === 'run_seq' || column === 'run_nth' ? 5 : 'x';
  for (const value of column === 'status' || column === 'state' || column === 'sum' ? [other] : [other, null])
    expect(() => readThread(record({ [column]: value }))).toThrow(
      expect.objectContaining({ code: 'INTERNAL', details: { thread_id: 't' } }) as Error,
    );
});

test('[R11] a head that lacks a column is missed, even where its sum fits', () => {
  const none = { last_seq: null, updated_at: null, hash: null };
  const run = { speaker: 'bob', run_seq: 3, run_nth: 2 };
  const whole = { last_seq: 4, updated_at: 'now', hash: 'h', ...run };
  for (const key of ['last_seq', 'updated_at', 'hash', 'speaker', 'run_seq', 'run_nth'] as const)
    for (const row of [
      { ...none, speaker: null, run_seq: null, run_nth: null, [key]: whole[key] },
      { ...whole, [key]: null },
    ]) {
      const head_sum = sumOfHead({ thread: 7, ...(row as typeof whole) });
      expect(() => readThread(record({ ...row, head_sum })), JSON.stringify(row)).toThrow('the state of t');
    }
});

test('the logs of agents and of documents stand in no list of threads', () => {
  const listed = (thread_id: string) => listedIn({ thread_id, workspace_id: 'w' });
  expect([journalId('w', 'alice'), treeId('w'), 'th_01'].map(listed)).toEqual([null, null, 'w']);
});

test('a state is written again when an entry changed more than the head', () => {
  expect(sameButForHead(state, { ...state, last_seq: 9, updated_at: 'later' })).toBe(true);
  for (const key of ['status', 'findings', 'participants', 'title', 'conversation', 'side_channels'])
    expect(sameButForHead(state, { ...state, [key]: {} }), key).toBe(false);
});
