import type { Mail } from '@parley/mail';
import { beforeEach, expect, test } from 'vitest';

import { accountOf, createMailBudget, type MailBudget, MailTally } from './mail-budget.ts';

const HOUR_MS = 3_600_000;
let time: number;
let budget: MailBudget;
beforeEach(() => {
  time = Date.UTC(2026, 0, 1);
  budget = createMailBudget({ mail_turns_per_pair: 3, mail_turns_per_target: 5 }, () => new Date(time));
});

let last = 0;
const mail = (from: string): Mail => ({
  message_id: `m${++last}`,
  from,
  message: 'x',
  timestamp: '2026-01-01T00:00:00Z',
  read: false,
});
/** Lets mail start turns; true for each that was let through. */
const bring = (target: string, ...senders: string[]): boolean[] =>
  senders.map((from) => {
    const isFree = budget.admit(target, [mail(from)]).length === 1;
    if (isFree) budget.spend(target, [from]);
    return isFree;
  });

test('a pair has its budget, others go on, and the target has one too', () => {
  expect(budget.isNarrow('arch')).toBe(false);
  expect(bring('arch', 'bob', 'bob', 'bob', 'bob', 'ann', 'ann', 'ann')).toEqual([
    true,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(budget.holds('arch').map(({ from, reason, limit }) => [from, reason, limit])).toEqual([
    ['bob', 'pair', 3],
    [null, 'target', 5],
  ]);
  expect(bring('dev', 'bob')).toEqual([true]);
});

test('an hour without mail gives it back; what was stopped stays stopped until the client takes a turn', () => {
  bring('arch', 'bob', 'bob', 'bob');
  time += HOUR_MS;
  expect(bring('arch', 'bob', 'bob', 'bob', 'bob')).toEqual([true, true, true, false]);
  time += 24 * HOUR_MS;
  expect(bring('arch', 'bob', 'ann')).toEqual([false, true]);
  budget.rearm('arch');
  expect(bring('arch', 'bob')).toEqual([true]);
});

test('a turn of the client re-arms what its session gets and what it sends', () => {
  bring('arch', 'bob', 'bob', 'bob', 'bob');
  bring('dev', 'bob', 'bob', 'bob', 'bob', 'ann', 'ann', 'ann');
  budget.rearm('bob');
  expect(bring('arch', 'bob')).toEqual([true]);
  // All mail to dev was stopped: that is for dev's own turn to lift.
  expect(bring('dev', 'bob')).toEqual([false]);
  budget.rearm('dev');
  expect(bring('dev', 'bob')).toEqual([true]);
});

test('senders of other teams are their own; a clock that jumps back holds nobody longer', () => {
  bring('arch', 'bob', 'bob', 'bob');
  expect(budget.admit('arch', [{ ...mail('bob'), source_team: 'red' }])).toHaveLength(1);
  time -= 5 * HOUR_MS;
  expect(budget.isNarrow('arch')).toBe(true);
  time += HOUR_MS;
  expect(budget.isNarrow('arch')).toBe(false);
});

test('what is held is told with its ids as long as it is unread', () => {
  bring('arch', 'bob', 'bob', 'bob');
  const [a, b, c] = [mail('bob'), mail('ann'), mail('bob')];
  expect(budget.admit('arch', [a, b, c])).toEqual([b]);
  expect(budget.holds('arch')).toMatchObject([{ message_ids: [a.message_id, c.message_id] }]);
  budget.admit('arch', [c]);
  expect(budget.holds('arch')).toMatchObject([{ message_ids: [c.message_id] }]);
});

test('where a target stands is kept and taken up again; a limit that was raised lifts what it held', () => {
  bring('arch', 'bob', 'bob', 'bob', 'bob', 'ann');
  expect(budget.tally('dev')).toBeUndefined();
  const tally = MailTally.parse(JSON.parse(JSON.stringify(budget.tally('arch'))));
  const again = (ofPair: number, ofTarget: number): void => {
    const limits = { mail_turns_per_pair: ofPair, mail_turns_per_target: ofTarget };
    budget = createMailBudget(limits, () => new Date(time));
    budget.restore('arch', tally);
  };
  again(3, 5);
  expect(bring('arch', 'bob', 'ann', 'ann')).toEqual([false, true, false]);
  // What was stopped stays stopped, also when the turns that stopped it are long past.
  time += 24 * HOUR_MS;
  again(3, 5);
  expect(bring('arch', 'bob', 'ann')).toEqual([false, true]);
  again(4, 5);
  expect(bring('arch', 'bob')).toEqual([true]);
});

test('what is kept of a sender holds no secret', () => {
  const key = `sk-ant-api03-${'a1B2'.repeat(20)}`;
  budget.spend('arch', [accountOf(mail(key))]);
  expect(JSON.stringify(budget.tally('arch'))).not.toContain('a1B2');
});
