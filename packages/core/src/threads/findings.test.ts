import { describe, expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import { checkRoom, excerpt, type Finding, MAX_FINDINGS } from './findings.ts';
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

  test('an excerpt is one line of whole characters', () => {
    expect(excerpt('  a\n\tb  ')).toBe('a b');
    expect(excerpt('x'.repeat(160))).toHaveLength(160);
    expect(excerpt('x'.repeat(161))).toBe(`${'x'.repeat(159)}…`);
    const emoji = excerpt(`${'x'.repeat(158)}😀😀`);
    expect(emoji.isWellFormed()).toBe(true);
    expect(emoji).toBe(`${'x'.repeat(158)}…`);
  });
});
