import { describe, expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import type { ThreadState } from '../threads/state.ts';
import { type Setting } from './addressing.ts';
import { callsOf, invokedBy, passedOverBy, settleCalls } from './calls.ts';
import { type Conversation } from './conversation.ts';
import { advise } from './policy.ts';
import { NOW, said, thread } from './sample-conversation.ts';

const TWO = thread(['a', 'b']);
const THREE = thread(['a', 'b', 'c']);
const post: Setting = { isPost: true };
const event = (metadata: Record<string, unknown>, more: Partial<Entry> = {}): Entry =>
  said({ kind: 'event', metadata: { event_type: 're_review_requested', ...metadata }, ...more });
const calls = (state: ThreadState, entry: Entry, setting: Setting = post) => {
  const { called, not_called } = callsOf(state, entry, setting);
  return [called, not_called.map(({ agent, why }) => `${agent} ${why}`)];
};

describe('whom an entry calls', () => {
  const cases: [string, ThreadState, Entry, string[], string[]][] = [
    ['of two the other', TWO, said(), ['b'], []],
    ['of two the other, by a mention too', TWO, said({ body: '@b look' }), ['b'], []],
    [
      'of two the other, though a word looks like a name',
      TWO,
      said({ body: '@media' }),
      ['b'],
      ['media not_a_participant'],
    ],
    ['of two the other, by an event', TWO, event({}), ['b'], []],
    ['nobody of three', THREE, said(), [], ['b not_addressed', 'c not_addressed']],
    ['the one it is addressed to', THREE, said({ to: 'c' }), ['c'], []],
    ['nobody when it is addressed to oneself', THREE, said({ to: 'a' }), [], ['a yourself']],
    [
      'an agent’s mention calls only under discussion',
      THREE,
      said({ body: '@b look' }),
      [],
      ['b discussion_off'],
    ],
    ['a person’s mention', THREE, said({ body: '@b look', human: true }), ['b'], []],
    [
      'a mention under discussion',
      thread(['a', 'b', 'c'], { discussion: { on: true, allow_agent_mentions: true } }),
      said({ body: '@b and @d' }),
      ['b'],
      ['d not_a_participant'],
    ],
    ['the reviewer', THREE, event({ reviewer: 'b' }), ['b'], []],
    ['the assignee', THREE, event({ event_type: 'custom', assignee: 'c' }), ['c'], []],
    [
      'the reviewer beside the one it is addressed to',
      THREE,
      event({ reviewer: 'b' }, { to: 'c' }),
      ['b', 'c'],
      [],
    ],
    ['to whom a thread is escalated', THREE, event({ event_type: 'thread_escalated', to: 'c' }), ['c'], []],
    [
      'no reviewer in a mere message',
      THREE,
      said({ metadata: { reviewer: 'b' } }),
      [],
      ['b not_addressed', 'c not_addressed'],
    ],
    ['not oneself as the reviewer', TWO, event({ reviewer: 'a' }), ['b'], []],
    [
      'a reviewer whom nobody knows',
      THREE,
      event({ reviewer: 'ghost' }),
      [],
      ['ghost not_a_participant', 'b not_addressed', 'c not_addressed'],
    ],
    ['no reviewer that is no name', TWO, event({ reviewer: { toString: 'b' } }), ['b'], []],
    ['nobody who is muted', thread(['a', 'b'], { muted: ['b'] }), said(), [], ['b muted']],
    ['nobody while paused', thread(['a', 'b'], { paused: true }), said({ human: true }), [], ['b paused']],
    ['nobody after the end', thread(['a', 'b'], { done: true }), said({ to: 'b' }), [], ['b ended']],
    [
      'nobody by a task for a role that none has',
      THREE,
      said({ type: 'task', kind: 'event', metadata: { role: 'tester' } }),
      [],
      ['b no_such_role', 'c no_such_role'],
    ],
    [
      'whoever gave the task, by its result',
      THREE,
      said({ type: 'result', kind: 'event', to: 'c' }),
      ['c'],
      [],
    ],
    ['nobody by a status', TWO, said({ type: 'thread.status', kind: 'system' }), [], []],
  ];
  test.each(cases)('[BRIDGE-14] [C-BRIDGE-14] %s', (_what, state, entry, called, not) => {
    expect(calls(state, entry)).toEqual([called, not]);
  });

  test('somebody from outside calls the one of two whom they answer, and nobody else', () => {
    const outside = said({ sender_agent_id: 'ann', human: true });
    expect(calls(TWO, outside)).toEqual([[], ['a not_addressed', 'b not_addressed']]);
    expect(calls(TWO, outside, { isPost: true, repliedTo: 'b' })).toEqual([['b'], []]);
    expect(calls(THREE, outside, { isPost: true, repliedTo: 'b' })[0]).toEqual([]);
    expect(calls(TWO, outside, { isPost: true, repliedTo: 'gone' })[0]).toEqual([]);
  });

  test('a report of how work goes on calls only whom it names', () => {
    expect(calls(TWO, said(), {})).toEqual([[], ['b not_addressed']]);
  });
});

test('what was decided stays, whatever becomes of the thread', () => {
  const mention = said({ body: '@b look' });
  expect(settleCalls(THREE, mention, post)).toEqual({
    called: [],
    not_called: [
      {
        agent: 'b',
        why: 'discussion_off',
        hint: '@b by an agent calls only while discussion is on; address it with `to`',
      },
    ],
  });
  const later = thread(['a', 'b', 'c'], { discussion: { on: true, allow_agent_mentions: true } });
  expect(invokedBy(later, mention)).toEqual([]);
  expect(passedOverBy(later, mention)).toMatchObject([{ agent: 'b', why: 'discussion_off' }]);
  const plain = said();
  expect(settleCalls(TWO, plain, post)).toEqual({ called: ['b'], not_called: [], invokes: ['b'] });
  expect(invokedBy(THREE, plain)).toEqual(['b']);
  expect(passedOverBy(THREE, plain)).toEqual([]);
  expect(advise(THREE, plain, 'b', false, NOW)).toEqual({ respond: true, rule: 'addressed' });
  // What an older hub wrote goes by its words.
  expect(invokedBy(TWO, said())).toEqual([]);
  expect(invokedBy(TWO, said({ to: 'b' }))).toEqual(['b']);
});

test('a crowd is not listed name by name, and the names that exist are told', () => {
  const crowd = thread(['a', ...Array.from({ length: 40 }, (_, i) => `agent-${i}`)]);
  const { not_called } = settleCalls(crowd, said({ body: '@nobody' }), post);
  expect(not_called).toHaveLength(16);
  expect(not_called[0]).toMatchObject({ agent: 'nobody', why: 'not_a_participant' });
  expect(not_called[0]?.hint).toContain('a, agent-0, agent-1');
  expect(not_called.at(-1)?.hint).toMatch(/; 25 more were not called$/);
});

test('a thread is small up to its threshold, and large with one more', () => {
  const of = (count: number, policy?: Conversation['policy']) => {
    const names = ['a', 'b', ...Array.from({ length: count - 2 }, (_, i) => `agent-${i}`)];
    return advise(thread(names, policy === undefined ? {} : { policy }), said(), 'b', false, NOW);
  };
  const small = { respond: true, rule: 'small_thread' };
  const large = { respond: false, rule: 'large_thread' };
  expect([of(5), of(6)]).toEqual([small, large]);
  const three = { mode: 'auto', threshold: 3 } as const;
  expect([of(2, three), of(3, three), of(4, three)]).toEqual([small, small, large]);
  expect(of(40, { mode: 'permissive' })).toEqual(small);
  expect(of(3, { mode: 'conservative' })).toEqual(large);
});

test('where the invited are asked to answer a person, the agent that made the thread was not invited', () => {
  const made = { ...thread(['maker', 'b', 'c'], { invited_auto: true }), created_by: 'maker' };
  const words = said({ sender_agent_id: 'ann', human: true });
  expect(calls(made, words)[0]).toEqual(['b', 'c']);
  expect(advise(made, words, 'b', false, NOW)).toEqual({ respond: true, rule: 'invited_auto' });
  expect(advise(made, words, 'maker', false, NOW).rule).not.toBe('invited_auto');
  // Of another agent nobody is asked.
  expect(calls(made, said({ sender_agent_id: 'b' }))[0]).toEqual([]);
});
