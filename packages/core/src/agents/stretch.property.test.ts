import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  afterLook,
  type AgentStateRecord,
  MISSED_MS,
  type SeenState,
  stretchKey,
  WORDS_MS,
} from './stretch.ts';

const START = Date.parse('2030-01-01T12:00:00Z');
const who = { agent_id: 'a', workspace_id: 'w' };
const iso = (ms: number): string => new Date(ms).toISOString();

interface Step {
  /** How long after the look before; a clock may also be set back. */
  later: number;
  seen: Omit<SeenState, 'since'>;
  /** How long ago it became so, by its own account. */
  ago: number;
  stopped: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  later: fc.oneof(
    fc.integer({ min: 1, max: 5 * WORDS_MS }),
    fc.constant(0),
    fc.integer({ min: -90_000, max: -1 }),
  ),
  seen: fc.record({
    state: fc.constantFrom('idle', 'working', 'stuck', 'needs_you', 'error', 'offline'),
    reason: fc.constantFrom('this', 'that'),
  }),
  ago: fc.integer({ min: 0, max: 3 * WORDS_MS }),
  stopped: fc.boolean(),
});

/** What is on record after these looks, and how often something was written. */
function watch(steps: readonly Step[]) {
  const kept = new Map<string, AgentStateRecord>();
  let open: AgentStateRecord | undefined;
  let now = START;
  let writes = 0;
  for (const { later, seen, ago, stopped } of steps) {
    const ranUntil = stopped ? now : undefined;
    now += later;
    const news = afterLook(open, { ...seen, since: iso(now - ago) }, { who, now, ranUntil });
    if (news.length > 0) writes++;
    for (const state of news) kept.set(stretchKey(state), state);
    open = news.find(({ until }) => until === undefined) ?? open;
  }
  return { kept: [...kept.values()].toSorted((a, b) => (a.from < b.from ? -1 : 1)), open, now, writes };
}

test('whatever is seen, the stretches of an agent follow upon one another without overlap, and the last goes on', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      const { kept, open } = watch(steps);
      expect(kept.at(-1)).toEqual(open);
      for (const [i, { from, until }] of kept.entries()) {
        const next = kept[i + 1];
        if (next === undefined) expect(until).toBeUndefined();
        else {
          expect(until).toBeDefined();
          expect(from <= (until ?? '')).toBe(true);
          expect((until ?? '') <= next.from).toBe(true);
        }
      }
    }),
  );
});

test('only while no hub ran is there a hole', () => {
  const forward = step.filter(({ later }) => later >= 0).map((one) => ({ ...one, stopped: false }));
  fc.assert(
    fc.property(fc.array(forward, { minLength: 1, maxLength: 40 }), (steps) => {
      const { kept } = watch(steps);
      for (const [i, { until }] of kept.entries())
        if (until !== undefined) expect(kept[i + 1]?.from).toBe(until);
    }),
  );
});

test('the state on record is the one that was seen last', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      expect(watch(steps).open?.state).toBe(steps.at(-1)?.seen.state);
    }),
  );
});

test('looks that see the same write once, however many they are and whatever the words', () => {
  const same = fc.array(
    fc.record({ later: fc.integer({ min: 1, max: WORDS_MS / 100 }), reason: fc.string({ maxLength: 5 }) }),
    { minLength: 1, maxLength: 90 },
  );
  fc.assert(
    fc.property(same, (looks) => {
      const steps = looks.map(({ later, reason }) => ({
        later,
        seen: { state: 'working', reason } as const,
        ago: 0,
        stopped: false,
      }));
      expect(watch(steps).writes).toBe(1);
    }),
  );
});

const base: AgentStateRecord = {
  ...who,
  state: 'working',
  reason: 'the mapper',
  since: iso(START),
  from: iso(START),
};
const at = (seconds: number) => ({ who, now: START + seconds * 1_000 });
const seen = (state: SeenState['state'], reason: string, seconds: number): SeenState => ({
  state,
  reason,
  since: iso(START + seconds * 1_000),
});

test('silence has another reason with every minute, and is one stretch that begins when it fell silent', () => {
  const [over, silent] = afterLook(base, seen('stuck', 'silent for 60 s', 30), at(90));
  expect([over?.until, silent?.from]).toEqual([iso(START + 30_000), iso(START + 30_000)]);
  expect(afterLook(silent, seen('stuck', 'silent for 3 min', 30), at(900))).toEqual([]);
});

test('what was there before an ask begins anew when it is answered, not when it first began', () => {
  const asking = {
    ...seen('needs_you', 'asks to run: ls', 60),
    waits_for: { what: 'answer', ask_id: 'ask_1' },
  } as const;
  const asked = afterLook(base, asking, at(61)).at(-1);
  const [over, again] = afterLook(asked, seen('working', 'the mapper', 0), at(75));
  expect([asked?.from, over?.until, again?.from]).toEqual([60, 75, 75].map((s) => iso(START + s * 1_000)));
  // Another ask right after it is another wait.
  const other = {
    ...asking,
    since: iso(START + 70_000),
    waits_for: { what: 'answer', ask_id: 'ask_2' },
  } as const;
  expect(afterLook(asked, other, at(70)).map(({ waits_for }) => waits_for?.ask_id)).toEqual([
    'ask_1',
    'ask_2',
  ]);
});

test('other words begin a stretch once a minute, at the time at which they were said', () => {
  expect(afterLook(base, seen('working', 'the tests', 5), at(6))).toEqual([]);
  expect(afterLook(base, seen('working', 'the tests', 5), at(61)).map(({ from }) => from)).toEqual([
    iso(START),
    iso(START + 5_000),
  ]);
});

test('of the time in which no hub ran nothing is told', () => {
  const stopped = { who, now: START + 3_600_000, ranUntil: START + 60_000 };
  const [over, now] = afterLook(base, seen('working', 'the mapper', 0), stopped);
  expect([over?.until, now?.from]).toEqual([iso(START + 60_000), iso(START + 3_600_000)]);
  const short = { who, now: START + 60_000 + MISSED_MS - 1, ranUntil: START + 60_000 };
  expect(afterLook(base, seen('working', 'the mapper', 0), short)).toEqual([]);
});
