import { expect, test } from 'vitest';

import {
  checkForce,
  failureOf,
  HUMAN_INPUT,
  judge,
  NO_PROMPT,
  patienceLeft,
  reasonToSkip,
  recheckAfter,
  type WakeFacts,
  type WakeSettings,
} from './policy.ts';

const SETTINGS = { quietMs: 20_000, maxDeferMs: 60_000, expireMs: 600_000, recheckMs: 5_000 };
const waited = (deferredMs: number, humanMs = 0) => ({ deferredMs, humanMs });

test('who forces a wake without a reason is told which field lacks', () => {
  const wrong = expect.objectContaining({ code: 'VALIDATION_ERROR', details: { field: 'audit' } });
  expect(() => checkForce({ role: 'operator' }, true, {})).toThrow(wrong);
  expect(() => checkForce({ role: 'operator' }, true, undefined)).toThrow(wrong);
  expect(() => checkForce({ role: 'operator' }, true, { why: 'now' })).not.toThrow();
  expect(() => checkForce({ role: 'worker' }, false, undefined)).not.toThrow();
});

test('a door of which nobody knows is left for later as long as there is patience, and then passed by', () => {
  const look = { can: 'perhaps', reason: 'who knows' } as const;
  const at = (deferredMs: number) => judge(look, { force: false, ...waited(deferredMs) }, SETTINGS);
  expect(at(599_999)).toEqual({ step: 'leave', reason: 'who knows' });
  expect(at(600_000)).toEqual({ step: 'skip', reason: 'who knows' });
});

test('a person who typed a moment ago is in the way, one who stopped is not; a program that is at work is', () => {
  const at = (human_idle_ms: number | undefined, can: 'now' | 'later' = 'now') => {
    const idle = human_idle_ms === undefined ? {} : { human_idle_ms };
    const look = can === 'now' ? { can, ...idle } : { can, reason: 'at_work', ...idle };
    return judge(look, { force: false, ...waited(0) }, SETTINGS);
  };
  expect(at(19_999)).toEqual({ step: 'defer', reason: HUMAN_INPUT });
  expect(at(20_000)).toEqual({ step: 'deliver' });
  expect(at(undefined)).toEqual({ step: 'deliver' });
  expect(at(19_999, 'later')).toEqual({ step: 'defer', reason: HUMAN_INPUT });
  expect(at(20_000, 'later')).toEqual({ step: 'defer', reason: 'at_work' });
  expect(at(undefined, 'later')).toEqual({ step: 'defer', reason: 'at_work' });
});

test('a person and a program without a prompt are waited for a short time, a program at work for a long one', () => {
  const left = (reason: string, deferredMs: number, humanMs = 0) =>
    patienceLeft(reason, waited(deferredMs, humanMs), SETTINGS);
  expect(left(HUMAN_INPUT, 50_000, 10_000)).toBe(50_000);
  expect(left(HUMAN_INPUT, 580_000, 10_000)).toBe(20_000);
  expect(left(NO_PROMPT, 10_000)).toBe(50_000);
  expect(left(`${NO_PROMPT}: it asks something`, 10_000)).toBe(50_000);
  expect(left('at_work', 10_000)).toBe(590_000);
});

test('a program is looked after soon at first and then at the usual pace, a person at that from the start', () => {
  const after = (reason: string | undefined, deferredMs: number) =>
    recheckAfter(reason, waited(deferredMs), SETTINGS);
  expect([0, 400, 4_000, 100_000].map((ms) => after('at_work', ms))).toEqual([300, 400, 1_300, 5_000]);
  expect(after(HUMAN_INPUT, 0)).toBe(5_000);
});

test('nobody is woken without cause: the first reason not to is told', () => {
  const skip = (more: Partial<WakeFacts>, quiet = false) => {
    const facts: WakeFacts = {
      force: false,
      unreadSeq: 3,
      restriction: undefined,
      quiet: false,
      last: undefined,
      ...more,
    };
    return reasonToSkip(facts, { quiet, repeatAfterMs: 600 } as WakeSettings);
  };
  expect(skip({})).toBeUndefined();
  expect(skip({ unreadSeq: 0, restriction: 'closed', force: true })).toBe('nothing_unread');
  expect(skip({ restriction: 'closed', force: true })).toBe('closed');
  expect(skip({ restriction: 'muted', quiet: true })).toBe('muted');
  expect(skip({ restriction: 'muted', quiet: true, force: true })).toBeUndefined();
  expect(skip({ quiet: true })).toBe('quiet');
  expect(skip({}, true)).toBe('quiet');
  const woken = (throughSeq: number, agoMs: number) => skip({ last: { throughSeq, agoMs } });
  expect([woken(3, 599), woken(4, 0)]).toEqual(['already_woken', 'already_woken']);
  expect([woken(3, 600), woken(2, 0)]).toEqual([undefined, undefined]);
  expect(skip({ quiet: true, last: { throughSeq: 3, agoMs: 0 } })).toBe('quiet');
});

test('a wake for which no door was left says who is in the way, or that nobody has it in hand', () => {
  const code = (reason: string, known: boolean, managed: boolean, served: boolean) =>
    failureOf(
      [
        { door: 'command', reason: 'no_answer' },
        { door: 'command', reason },
      ],
      { known, managed, served },
    );
  for (const reason of [HUMAN_INPUT, 'taken_over'])
    expect(code(reason, true, false, false)).toBe('HUMAN_INPUT_COLLISION');
  expect(code('', true, false, false)).toBe('UNMANAGED_RUNTIME');
  expect(code('', true, true, false)).toBe('WAKE_FAILED');
  expect(code('', true, false, true)).toBe('WAKE_FAILED');
  expect(code('', false, false, false)).toBe('WAKE_FAILED');
});
