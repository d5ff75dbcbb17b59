import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { DOORS, type Look } from './door.ts';
import { LADDERS, unfit } from './ladder.ts';
import { checkForce, failureOf, HUMAN_INPUT, judge, reasonToSkip, type WakeSettings } from './policy.ts';

const SETTINGS: WakeSettings = {
  quiet: false,
  recheckMs: 5_000,
  quietMs: 20_000,
  maxDeferMs: 60_000,
  expireMs: 86_400_000,
  returnMs: 0,
  proofMs: 30_000,
  repeatAfterMs: 600_000,
  pairPerHour: 30,
  targetPerHour: 120,
};

const facts = fc.record({
  force: fc.boolean(),
  unreadSeq: fc.nat(5),
  restriction: fc.constantFrom(undefined, 'closed', 'ended', 'muted', 'paused'),
  quiet: fc.boolean(),
  last: fc.option(fc.record({ throughSeq: fc.nat(5), agoMs: fc.nat(1_200_000) }), { nil: undefined }),
});

test('[C-WAKE-08] [HUB-W4] whatever is known, nobody is woken without cause, and only an operator overrides the rest', () => {
  fc.assert(
    fc.property(facts, fc.boolean(), (known, quiet) => {
      const skip = reasonToSkip(known, { ...SETTINGS, quiet });
      if (known.unreadSeq === 0) expect(skip).toBe('nothing_unread');
      else if (known.restriction === 'closed') expect(skip).toBe('closed');
      else if (known.force) expect(skip).toBeUndefined();
      else if (known.restriction !== undefined) expect(skip).toBe(known.restriction);
      else if (known.quiet || quiet) expect(skip).toBe('quiet');
      else if (known.last && known.last.throughSeq >= known.unreadSeq && known.last.agoMs < 600_000)
        expect(skip).toBe('already_woken');
      else expect(skip).toBeUndefined();
    }),
  );
});

/** Keystrokes at these moments; what the policy does at each look, one every re-check. */
function play(typed: readonly number[], force: boolean) {
  let humanMs = 0;
  for (let now = 0; ; now += SETTINGS.recheckMs) {
    const last = typed.filter((at) => at <= now).at(-1);
    const look: Look = last === undefined ? { can: 'now' } : { can: 'now', human_idle_ms: now - last };
    const { step } = judge(look, { force, deferredMs: humanMs, humanMs }, SETTINGS);
    if (step !== 'defer') return { step, now, idle: last === undefined ? Infinity : now - last };
    humanMs += SETTINGS.recheckMs;
  }
}

test('[HUB-W3] [C-WAKE-04] [C-WAKE-05] nobody is typed over, nobody waits for ever, and a quiet moment is used within one re-check', () => {
  const keystrokes = fc.array(fc.integer({ min: 0, max: 120_000 }), { maxLength: 40 });
  fc.assert(
    fc.property(keystrokes, (moments) => {
      const typed = moments.toSorted((a, b) => a - b);
      const { step, now, idle } = play(typed, false);
      if (step === 'deliver') expect(idle).toBeGreaterThanOrEqual(SETTINGS.quietMs);
      else expect(now).toBe(SETTINGS.maxDeferMs);
      // At the look before, the quiet was not long enough yet.
      if (step === 'deliver' && now > 0) expect(idle - SETTINGS.recheckMs).toBeLessThan(SETTINGS.quietMs);
      expect(play(typed, true)).toMatchObject({ step: 'deliver', now: 0 });
    }),
  );
  expect(play([-3_000], false)).toMatchObject({ step: 'deliver', now: 20_000 });
  const every5s = Array.from({ length: 19 }, (_, i) => i * 5_000);
  expect(play(every5s, false)).toMatchObject({ step: 'skip', now: 60_000 });
});

test('a door that is shut is passed by, also by one who insists', () => {
  for (const force of [false, true])
    expect(judge({ can: 'no', reason: 'gone' }, { force, deferredMs: 0, humanMs: 0 }, SETTINGS)).toEqual({
      step: 'skip',
      reason: 'gone',
    });
});

test('[HUB-W2] [HUB-W6] the end of the ladder has one code: a person in the way, nobody who manages it, or no door left', () => {
  const passed = fc.array(
    fc.record({
      door: fc.constantFrom(...DOORS),
      reason: fc.constantFrom(HUMAN_INPUT, 'not_configured', 'x'),
    }),
  );
  const target = fc.record({ managed: fc.boolean(), known: fc.boolean(), served: fc.boolean() });
  fc.assert(
    fc.property(passed, target, (all, at) => {
      const code = failureOf(all, at);
      expect(code === 'HUMAN_INPUT_COLLISION').toBe(all.some(({ reason }) => reason === HUMAN_INPUT));
      if (code === 'UNMANAGED_RUNTIME') expect(at).toEqual({ managed: false, known: true, served: false });
    }),
  );
});

test('[HUB-W3] only a person ends the patience after the maximum: a program at work gets it after its turn, unless that takes for ever', () => {
  const waited = fc.record({ deferredMs: fc.nat(100_000_000), humanMs: fc.nat(100_000_000) });
  const reasons = fc.constantFrom('working', 'blocked', 'session_busy', HUMAN_INPUT, 'taken_over');
  fc.assert(
    fc.property(waited, reasons, ({ deferredMs, humanMs }, reason) => {
      const at = { deferredMs: Math.max(deferredMs, humanMs), humanMs };
      const { step } = judge({ can: 'later', reason }, { force: false, ...at }, SETTINGS);
      const isOver = at.deferredMs >= SETTINGS.expireMs;
      if (reason === HUMAN_INPUT || reason === 'taken_over')
        expect(step).toBe(isOver || humanMs >= SETTINGS.maxDeferMs ? 'skip' : 'defer');
      else expect(step).toBe(isOver ? 'skip' : 'defer');
    }),
  );
});

test('[HUB-W1] every ladder begins with the session’s own keeper, which only managed runtimes have, and ends with the widest step', () => {
  const order = ['trigger_runtime', 'resume_session', 'spawn_session'];
  for (const rungs of Object.values(LADDERS)) {
    expect(rungs.slice(0, 2)).toEqual(
      ['managed', 'supervisor'].map((door) => ({ door, action: 'trigger_runtime', needs: 'managed' })),
    );
    const steps = rungs.map(({ action }) => order.indexOf(action));
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(new Set(rungs.map(({ door }) => door)).size).toBe(rungs.length);
  }
  const target = { native_id: undefined, managed: false } as never;
  expect(unfit(LADDERS.codex[0]!, target)).toBe('unmanaged_runtime');
});

test('[HUB-W4] [C-WAKE-06] force is for operators who say who asked for it and why', () => {
  const audit = { by: 'ann', why: 'release' };
  for (const role of ['orchestrator', 'worker', 'observer'] as const)
    expect(() => checkForce({ role }, true, audit)).toThrow(
      expect.objectContaining({ code: 'INSUFFICIENT_AUTHORITY' }),
    );
  for (const none of [undefined, {}])
    expect(() => checkForce({ role: 'operator' }, true, none)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR' }),
    );
  checkForce({ role: 'operator' }, true, audit);
  checkForce({ role: 'worker' }, false, undefined);
});
