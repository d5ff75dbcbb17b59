import { expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import type { Conversation } from './conversation.ts';
import { advise, answering } from './policy.ts';
import type { Presence } from './presence.ts';
import { NOW, said, thread } from './sample-conversation.ts';

const THREE = ['a', 'b', 'c'];
const past = new Date(NOW - 1).toISOString();

/** What b is told of an entry, in a thread of a, b and c. */
const told = (entry: Partial<Entry>, conversation: Partial<Conversation> = {}, human = false): string => {
  const { respond, rule } = advise(thread(THREE, conversation), said(entry), 'b', human, NOW);
  return `${respond ? 'yes' : 'no'} ${rule}`;
};

test.each<[string, Partial<Entry>, Partial<Conversation>]>([
  ['no own_event', { sender_agent_id: 'b', to: 'b' }, {}],
  ['no ended', { to: 'b' }, { done: true }],
  ['no ended', { to: 'b' }, { expires_at: past }],
  ['no muted', { to: 'b' }, { muted: ['c', 'b'] }],
  ['yes targeted', { to: 'b' }, { muted: ['c'] }],
  ['no paused', { to: 'b' }, { paused: true }],
  ['yes targeted', { to: 'b' }, { prodded: ['b'] }],
  ['no targeted_elsewhere', { to: 'c' }, { prodded: ['b'] }],
  ['yes prodded', {}, { prodded: ['b'], policy: { mode: 'conservative' } }],
  ['no large_thread', {}, { prodded: ['c'], policy: { mode: 'conservative' } }],
  ['yes addressed', { called: ['b'] }, {}],
  ['yes small_thread', { called: ['c'] }, {}],
  ['yes mentioned', { body: '@b look', human: true }, {}],
  ['no mentioned_without_discussion', { body: '@b look' }, {}],
  ['no others_mentioned', { body: '@c look', human: true }, {}],
  ['no others_mentioned', { body: '@c look' }, {}],
  ['no targeted_elsewhere', { type: 'task', kind: 'event', to: 'c' }, {}],
  ['no targeted_elsewhere', { type: 'task', kind: 'event' }, {}],
  ['yes task', { type: 'task', kind: 'event', to: 'b' }, {}],
  ['no targeted_elsewhere', { kind: 'event', metadata: { event_type: 'x', reviewer: 'c' } }, {}],
  ['yes named', { kind: 'event', metadata: { event_type: 'x', reviewer: 'b' } }, {}],
  ['no not_conversation', { type: 'presence', kind: 'system' }, {}],
  ['no not_conversation', { type: 'presence', kind: 'system', to: 'c' }, {}],
  ['no not_conversation', { type: 'result', kind: 'event' }, {}],
  ['no targeted_elsewhere', { type: 'result', kind: 'event', to: 'c' }, {}],
  ['yes targeted', { type: 'result', kind: 'event', to: 'b' }, {}],
])('%s: %o where %o', (advice, entry, conversation) => {
  expect(told(entry, conversation)).toBe(advice);
});

test('a person may always answer, also from outside, but for a closed thread', () => {
  expect(told({ to: 'b' }, { paused: true }, true)).toBe('yes targeted');
  const others = thread(['a', 'c']);
  expect(advise(others, said(), 'b', false, NOW).rule).toBe('not_a_participant');
  expect(advise(others, said(), 'b', true, NOW).rule).toBe('small_thread');
  expect(advise({ ...others, status: 'closed' }, said(), 'b', true, NOW).rule).toBe('closed');
});

test('who began an answer first goes on; of two who began together the first by name', () => {
  const at = (agent_id: string, state: Presence['state'], since: number): [string, Presence] => [
    agent_id,
    { thread_id: 'th_1', workspace_id: 'w', agent_id, state, since },
  ];
  const present = (...all: [string, Presence][]) => new Map(all);
  expect(
    answering(present(at('c', 'typing', 5), at('d', 'thinking', 6), at('e', 'listening', 1)), 'b'),
  ).toEqual(['c', 'd']);
  const together = present(
    at('b', 'typing', 5),
    at('c', 'typing', 5),
    at('a', 'typing', 5),
    at('d', 'thinking', 4),
  );
  expect(answering(together, 'b')).toEqual(['a', 'd']);
  // Its own listening is no answer that it has begun.
  expect(answering(present(at('b', 'listening', 1), at('c', 'typing', 5)), 'b')).toEqual(['c']);
  expect(answering(present(at('b', 'typing', 4), at('a', 'typing', 5), at('c', 'typing', 5)), 'b')).toEqual(
    [],
  );
});
