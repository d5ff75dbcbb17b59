import type { Control } from '@parley/protocol';
import { expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import { PLAIN } from '../participation/conversation.ts';
import { sampleCreation, sampleEvent, sampleMessage } from './sample-entries.ts';
import { evolve, type ThreadState, toThread } from './state.ts';

function after(...entries: Entry[]): ThreadState {
  return entries.reduce<ThreadState>(evolve, evolve(undefined, sampleCreation()));
}
const told = (seq: number, type: Entry['type'], metadata: object): Entry =>
  sampleMessage(seq, 'alice', '', { type, kind: 'system', metadata: { ...metadata } });
const control = (given: Control, by = 'alice'): Entry =>
  sampleMessage(1, by, '', { type: 'control', metadata: { control: given } });

test('a thread begins with what its first entry says, and with no more', () => {
  const begun = evolve(undefined, sampleCreation());
  const { created_at } = sampleCreation();
  expect(begun).toStrictEqual({
    thread_id: 't1',
    workspace_id: 'w1',
    title: 'Review',
    type: 'workflow',
    status: 'active',
    participants: ['alice', 'bob'],
    created_by: 'alice',
    created_at,
    updated_at: created_at,
    last_seq: 0,
    findings: [],
  });
  const marks = { side_of: 'm', journal_of: 'bob', tree: true };
  const metadata = { ...sampleCreation().metadata, ...marks };
  expect(evolve(undefined, { ...sampleCreation(), metadata })).toStrictEqual({ ...begun, ...marks });
});

test('every entry moves the head, and one of another kind nothing else', () => {
  const entry = sampleMessage(7, 'bob', 'text');
  const moved = { last_seq: 7, updated_at: entry.created_at };
  expect(after(entry)).toStrictEqual({ ...after(), ...moved });
  expect(after(told(7, 'presence', {}))).toStrictEqual({ ...after(), ...moved });
  expect(after(told(7, 'control', {}))).toStrictEqual({ ...after(), ...moved });
  expect(after(told(7, 'thread.status', { to: 'blocked' })).status).toBe('blocked');
  expect(after(told(7, 'thread.renamed', { title: 'Other' })).title).toBe('Other');
});

test('an open finding stays open while others speak of it', () => {
  const found = sampleEvent(1, 'bob', 'finding_reported');
  for (const entry of [sampleEvent(2, 'bob', 'fix_pushed'), sampleMessage(2, 'bob', 'text')])
    expect(after(found, entry).findings).toHaveLength(1);
});

test('who is invited takes part, once, and who leaves or is sent away does not', () => {
  const begun = after();
  const invite = (participant_id: string) => control({ invite: { participant_id } });
  expect(after(invite('carol'), invite('bob')).participants).toEqual(['alice', 'bob', 'carol']);
  expect(after(invite('carol'), control({ leave: {} } as never, 'bob')).participants).toEqual([
    'alice',
    'carol',
  ]);
  // What does not change stays the same list: a store writes anew what is another.
  const mute = control({ mute: { targets: ['bob'], mode: 'hard' } });
  expect(evolve(begun, mute).participants).toBe(begun.participants);
});

test('what is said counts for the conversation, be it a message or a result', () => {
  const prodded = control({ prod: ['bob'] });
  expect(after(prodded).conversation?.prodded).toEqual(['bob']);
  for (const type of ['message', 'result'] as const)
    expect(after(prodded, sampleMessage(2, 'bob', 'here', { type })).conversation?.prodded).toEqual([]);
  expect(after(sampleMessage(1, 'bob', 'here')).conversation).toBeUndefined();
});

test('a thread lists its side channels while they are open', () => {
  const side = (seq: number, side_id: string) =>
    told(seq, 'side.opened', { side_id, title: 'Aside', purpose: 'p', owner: 'bob' });
  const closed = told(3, 'side.closed', { side_id: 's1' });
  const both = after(side(1, 's1'), side(2, 's2'));
  const listed = (thread_id: string, { created_at: opened_at }: Entry) => ({
    thread_id,
    title: 'Aside',
    purpose: 'p',
    owner: 'bob',
    opened_at,
  });
  expect(both.side_channels).toEqual([listed('s1', side(1, 's1')), listed('s2', side(2, 's2'))]);
  expect(evolve(both, closed).side_channels).toEqual([listed('s2', side(2, 's2'))]);
  expect(after(closed).side_channels).toEqual([]);
  expect(toThread(both).side_channels).toEqual(both.side_channels);
  for (const none of [after(), after(closed)]) expect(toThread(none)).not.toHaveProperty('side_channels');
});

test('callers see a thread without its findings, and whether it is disputed', () => {
  const { findings: _findings, ...thread } = after();
  expect(toThread(after())).toStrictEqual({ ...thread, disputed: false });
  expect(toThread(after(sampleEvent(1, 'bob', 'finding_reported'))).disputed).toBe(true);
});

test('callers see of the conversation what somebody has set', () => {
  const seen = (set: object) => toThread({ ...after(), conversation: { ...PLAIN, ...set } });
  expect(seen({})).toStrictEqual(toThread(after()));
  const all = {
    muted: ['bob'],
    muted_until: { bob: 'then' },
    paused: true,
    done: true,
    expires_at: 'then',
    discussion: { on: true, allow_agent_mentions: false },
    invited_auto: true,
    policy: { mode: 'open' },
    prodded: ['bob'],
    profiles: { bob: { nickname: 'Bo' } },
  };
  for (const [key, value] of Object.entries(all))
    expect(seen({ [key]: value }), key).toStrictEqual({ ...toThread(after()), [key]: value });
  const policy = { mode: 'auto', threshold: 3 };
  expect(seen({ policy })).toMatchObject({ policy });
  expect(seen({ policy: { mode: 'auto' } })).not.toHaveProperty('policy');
});
