import { expect, test } from 'vitest';

import { append, draft, invalid, refuseObserver } from './draft.ts';
import { type Entry, toMessage } from './entry.ts';
import { callerOf, NOW } from './store-contract/scene.ts';
import { evolve, type ThreadState } from './threads/state.ts';

const alice = callerOf('alice', 'w');
const at = (now: number, more: object = {}) => ({ caller: alice, now, salt: 0, ...more });
const hello = { type: 'message', kind: 'chat', body: 'hello' } as const;

const founded: Entry = draft(undefined, 't', at(NOW), {
  type: 'thread.created',
  kind: 'event',
  body: '',
  metadata: { workspace_id: 'w', title: 't', type: 'conversation', participants: ['alice'] },
});
const thread: ThreadState = evolve(undefined, founded);

test('an entry says nothing of what nobody said', () => {
  expect(Object.keys(draft(thread, 't', at(NOW), hello))).toEqual([
    'message_id',
    'thread_id',
    'schema_version',
    'seq',
    'type',
    'sender_agent_id',
    'sender_session_id',
    'kind',
    'body',
    'created_at',
  ]);
});

test('an entry keeps what was said, in the order in which it is stored', () => {
  const said = { to: 'bob', metadata: { a: 1 }, in_reply_to: 'm', idempotency_key: 'k' };
  const entry = draft(thread, 't', at(NOW), { ...hello, ...said });
  expect(entry).toMatchObject(said);
  expect(Object.keys(entry).slice(-7)).toEqual([
    'to',
    'kind',
    'body',
    'metadata',
    'in_reply_to',
    'idempotency_key',
    'created_at',
  ]);
});

test('only what a person says is marked as human', () => {
  const human = draft(thread, 't', { ...at(NOW), caller: callerOf('ann', 'w', 'operator') }, hello);
  expect(human.human).toBe(true);
  expect(draft(thread, 't', at(NOW), hello)).not.toHaveProperty('human');
});

test('the trace of a call goes with the entry, and what the sender wrote there stays', () => {
  const trace = { traceparent: 'of the call', request_id: 'r' };
  expect(draft(thread, 't', at(NOW, { trace }), hello).metadata).toEqual(trace);
  const own = { ...hello, metadata: { traceparent: 'my own' } };
  expect(draft(thread, 't', at(NOW, { trace }), own).metadata).toEqual({ ...trace, traceparent: 'my own' });
});

test('the time of a thread never falls, and its ids follow it', () => {
  const early = draft(thread, 't', at(NOW - 5_000), hello);
  expect(early.created_at).toBe(thread.updated_at);
  expect(early.message_id).toBe(draft(thread, 't', at(NOW), hello).message_id);
  expect(draft(thread, 't', at(NOW + 1), hello).created_at).toBe(new Date(NOW + 1).toISOString());
});

test('[R2] a thread that has no number left is refused, the last one is still given', () => {
  const full = { ...thread, last_seq: Number.MAX_SAFE_INTEGER };
  expect(() => draft(full, 't', at(NOW), hello)).toThrow('the thread is full');
  const last = { ...thread, last_seq: Number.MAX_SAFE_INTEGER - 1 };
  expect(draft(last, 't', at(NOW), hello).seq).toBe(Number.MAX_SAFE_INTEGER);
});

test('what is appended is in the state that follows', () => {
  const { entry, change } = append(thread, at(NOW), hello);
  expect(change).toEqual({ entries: [entry], thread: evolve(thread, entry) });
  expect(change.thread.last_seq).toBe(1);
});

test('an observer is refused, everybody else is not, and a refusal names its field', () => {
  expect(() => refuseObserver('observer', 'post to')).toThrow('an observer may not post to a thread');
  for (const role of ['operator', 'orchestrator', 'worker'] as const)
    expect(() => refuseObserver(role, 'post to')).not.toThrow();
  expect(invalid('title', 'no')).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'title' } });
});

test('callers see the message of an entry, not what the hub decided beside it', () => {
  const entry = { ...draft(thread, 't', at(NOW), hello), not_called: [{ agent: 'bob', why: 'muted' }] };
  const { type: _type, not_called: _told, ...message } = entry;
  expect(toMessage(entry)).toEqual(message);
});
