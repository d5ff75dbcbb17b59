import type { Role } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import {
  checkRoom,
  checkSettling,
  excerpt,
  type Finding,
  findTarget,
  MAX_FINDINGS,
  toFinding,
} from './findings.ts';
import { idAt, sampleCreation, sampleEvent, sampleMessage } from './sample-entries.ts';
import { evolve, isDisputed, type ThreadState } from './state.ts';

function after(...entries: Entry[]): ThreadState {
  return [sampleCreation(), ...entries].reduce<ThreadState | undefined>(evolve, undefined) as ThreadState;
}
const open = (...entries: Entry[]): (string | [string, 'rejected'])[] =>
  after(...entries).findings.map(({ text, rejected }) => (rejected ? [text, 'rejected'] : text));
const found = (seq: number, text: string, metadata = {}): Entry =>
  sampleEvent(seq, 'bob', 'finding_reported', metadata, { body: text });

describe('[HUB-M7] findings', () => {
  test('a report opens one, with what its metadata says', () => {
    const metadata = { severity: 'high', file: 'a.ts', line: 7, task_id: 'T', finding_id: 'F', other: 'x' };
    expect(after(found(1, 'broken', metadata)).findings).toEqual([
      {
        message_id: idAt(1),
        seq: 1,
        by: 'bob',
        text: 'broken',
        rejected: false,
        finding_id: 'F',
        task_id: 'T',
        severity: 'high',
        file: 'a.ts',
        line: 7,
      },
    ]);
  });

  test('a verdict is matched by finding_id, by message id, by reply, by task, or as the only one', () => {
    const two = [found(1, 'one', { finding_id: 'F1', task_id: 'T' }), found(2, 'two', { task_id: 'U' })];
    const verified = (metadata: Record<string, unknown>, more: Partial<Entry> = {}) =>
      open(...two, sampleEvent(3, 'bob', 'finding_verified', metadata, more));
    expect(verified({ finding_id: 'F1' })).toEqual(['two']);
    expect(verified({ finding_id: idAt(2) })).toEqual(['one']);
    expect(verified({}, { in_reply_to: idAt(1) })).toEqual(['two']);
    expect(verified({ task_id: 'U' })).toEqual(['one']);
    expect(verified({ finding_id: 'F1', task_id: 'U' }, { in_reply_to: idAt(2) })).toEqual(['two']);
    expect(verified({})).toEqual(['one', 'two']);
    expect(verified({ finding_id: 'unknown' })).toEqual(['one', 'two']);
    expect(verified({ task_id: 'unknown' })).toEqual(['one', 'two']);
    expect(open(found(1, 'one'), sampleEvent(2, 'alice', 'finding_verified'))).toEqual([]);
  });

  test('rejected by its reporter it is settled, by another it is disputed until someone settles it', () => {
    const one = found(1, 'one');
    expect(open(one, sampleEvent(2, 'bob', 'finding_rejected'))).toEqual([]);
    const disputed = [one, sampleEvent(2, 'alice', 'finding_rejected')];
    expect(open(...disputed)).toEqual([['one', 'rejected']]);
    expect(isDisputed(after(...disputed))).toBe(true);
    expect(open(...disputed, sampleEvent(3, 'bob', 'finding_rejected'))).toEqual([]);
    expect(open(...disputed, sampleEvent(3, 'alice', 'finding_verified'))).toEqual([]);
  });

  test('a verdict on one leaves the others, and one that fits none leaves the list as it is', () => {
    const two = [found(1, 'one'), found(2, 'two')];
    const rejected = sampleEvent(3, 'alice', 'finding_rejected', {}, { in_reply_to: idAt(2) });
    expect(open(...two, rejected)).toEqual(['one', ['two', 'rejected']]);
    const begun = after(...two);
    for (const event of ['finding_rejected', 'finding_verified'])
      expect(evolve(begun, sampleEvent(3, 'alice', event)).findings).toBe(begun.findings);
  });

  test('an open finding makes a thread disputed; chat and other events do not', () => {
    expect(isDisputed(after())).toBe(false);
    expect(isDisputed(after(found(1, 'one')))).toBe(true);
    const chat = sampleMessage(1, 'bob', 'x', { metadata: { event_type: 'finding_reported' } });
    expect(
      isDisputed(after(chat, sampleEvent(2, 'bob', 'fix_pushed'), sampleEvent(3, 'bob', 'coffee_brewed'))),
    ).toBe(false);
  });

  test('a thread holds so many and no more; other events always fit', () => {
    const full = Array.from({ length: MAX_FINDINGS }, () => ({}) as Finding);
    expect(() => checkRoom(full, 'finding_reported')).toThrow(
      expect.objectContaining({ code: 'CONFLICT' }) as Error,
    );
    expect(() => checkRoom(full.slice(1), 'finding_reported')).not.toThrow();
    expect(() => checkRoom(full, 'finding_verified')).not.toThrow();
  });

  const named = (seq: number, by: string, metadata = {}, more: Partial<Entry> = {}) =>
    sampleEvent(seq, by, 're_review_requested', metadata, more);
  const reviewers = (...entries: Entry[]) => after(...entries).findings.map((one) => one.reviewers);

  test('a reviewer is named by somebody else, for the finding it speaks of or all of the task', () => {
    const two = [found(1, 'one', { finding_id: 'F1', task_id: 'T' }), found(2, 'two', { task_id: 'U' })];
    expect(reviewers(...two, named(3, 'alice', { reviewer: 'carol' }))).toEqual([['carol'], ['carol']]);
    expect(reviewers(...two, named(3, 'alice', {}, { to: 'dan' }))).toEqual([['dan'], ['dan']]);
    expect(reviewers(...two, named(3, 'alice', { reviewer: 'carol' }, { to: 'dan' }))).toEqual([
      ['carol'],
      ['carol'],
    ]);
    expect(reviewers(...two, named(3, 'alice', { reviewer: 'carol', finding_id: 'F1' }))).toEqual([
      ['carol'],
      undefined,
    ]);
    expect(reviewers(...two, named(3, 'alice', { reviewer: 'carol', task_id: 'U' }))).toEqual([
      undefined,
      ['carol'],
    ]);
    for (const nobody of [{ finding_id: 'F9' }, { task_id: 'V' }])
      expect(reviewers(...two, named(3, 'alice', { reviewer: 'carol', ...nobody }))).toEqual([
        undefined,
        undefined,
      ]);
    const three = [...two, found(3, 'three', { task_id: 'T' })];
    expect(reviewers(...three, named(4, 'alice', { reviewer: 'carol', task_id: 'T' }))).toEqual([
      ['carol'],
      undefined,
      ['carol'],
    ]);
    expect(reviewers(...two, named(3, 'alice', { reviewer: 'alice' }))).toEqual([undefined, undefined]);
    expect(reviewers(...two, named(3, 'alice'))).toEqual([undefined, undefined]);
    expect(reviewers(found(1, 'one', { reviewer: 'carol' }))).toEqual([['carol']]);
  });

  test('the newest reviewers are kept, each once, and no name that is too long', () => {
    const one = found(1, 'one', { reviewer: 'r0' });
    const many = Array.from({ length: 9 }, (_, i) => named(i + 2, 'alice', { reviewer: `r${i}` }));
    expect(reviewers(one, ...many)).toEqual([['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8']]);
    const again = named(20, 'alice', { reviewer: 'r0' });
    expect(reviewers(one, named(2, 'alice', { reviewer: 'r1' }), again)).toEqual([['r1', 'r0']]);
    const [fits, tooLong] = ['x'.repeat(128), 'x'.repeat(129)];
    expect(reviewers(found(1, 'one', { reviewer: fits }))).toEqual([[fits]]);
    expect(reviewers(found(1, 'one', { reviewer: tooLong }))).toEqual([undefined]);
    expect(reviewers(found(1, 'one'), named(2, 'alice', { reviewer: fits }))).toEqual([[fits]]);
    expect(reviewers(found(1, 'one'), named(2, 'alice', { reviewer: tooLong }))).toEqual([undefined]);
  });

  test('a verdict counts of its reporter, of a reviewer and of those who steer', () => {
    const { findings } = after(found(1, 'one', { finding_id: 'F', reviewer: 'carol' }), found(2, 'two'));
    const settle = (agent_id: string, role: Role, verdict: object) => () =>
      checkSettling(findings, 'finding_verified', verdict, {
        agent_id,
        role,
        workspace_id: 'w',
        session_id: 's',
      });
    const first = { metadata: { finding_id: 'F' } };
    for (const [name, role] of [
      ['bob', 'worker'],
      ['carol', 'worker'],
      ['olga', 'orchestrator'],
    ] as const)
      expect(settle(name, role, first)).not.toThrow();
    const refused = (seq: number) =>
      expect.objectContaining({
        code: 'INSUFFICIENT_AUTHORITY',
        details: { finding: idAt(seq), reported_by: 'bob' },
      }) as Error;
    expect(settle('alice', 'worker', first)).toThrow(refused(1));
    expect(settle('carol', 'worker', { in_reply_to: idAt(2) })).toThrow(refused(2));
    // One that names the first and answers the second would look like a verdict on it.
    expect(settle('carol', 'worker', { ...first, in_reply_to: idAt(2) })).toThrow(refused(2));
    expect(settle('alice', 'worker', {})).not.toThrow();
    const rejecting = { agent_id: 'alice', role: 'worker', workspace_id: 'w', session_id: 's' } as const;
    expect(() => checkSettling(findings, 'finding_rejected', first, rejecting)).not.toThrow();
  });

  test('what metadata says is taken where it is of its kind, and bounded', () => {
    const odd = { severity: 7, file: '', line: '7', task_id: null, finding_id: 'x'.repeat(2_001) };
    expect(after(found(1, 'one', odd)).findings).toStrictEqual([
      { message_id: idAt(1), seq: 1, by: 'bob', text: 'one', rejected: false, finding_id: 'x'.repeat(2_000) },
    ]);
    const bare = toFinding(sampleMessage(1, 'bob', 'one'));
    expect(bare).toStrictEqual({ message_id: idAt(1), seq: 1, by: 'bob', text: 'one', rejected: false });
    expect(findTarget([bare], {})).toBe(bare);
  });

  test('an excerpt is one line of whole characters', () => {
    expect(excerpt(`😀${'x'.repeat(200)}`)).toBe(`😀${'x'.repeat(157)}…`);
    expect(excerpt('  a\n\tb  ')).toBe('a b');
    expect(excerpt('x'.repeat(160))).toBe('x'.repeat(160));
    expect(excerpt('x'.repeat(161))).toBe(`${'x'.repeat(159)}…`);
    const emoji = excerpt(`${'x'.repeat(158)}😀😀`);
    expect(emoji.isWellFormed()).toBe(true);
    expect(emoji).toBe(`${'x'.repeat(158)}…`);
  });
});
