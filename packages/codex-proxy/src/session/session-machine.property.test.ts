import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  newSession,
  type SessionEffect,
  type SessionInput,
  type SessionState,
  stepSession,
} from './session-machine.ts';

type Input = SessionInput<number, string>;
type Effect = SessionEffect<number, string>;

/** What may happen next; `pick` chooses among what is there and what is not. */
interface Move {
  what:
    | 'turn'
    | 'mail'
    | 'cancel'
    | 'ended'
    | 'broken'
    | 'lost'
    | 'timed_out'
    | 'grace'
    | 'close'
    | 'close_always'
    | 'close_timed_out'
    | 'died';
  pick: number;
}

const move = fc.record<Move>({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constant('turn' as const) },
    { weight: 6, arbitrary: fc.constant('ended' as const) },
    {
      weight: 10,
      arbitrary: fc.constantFrom('mail', 'cancel', 'broken', 'timed_out', 'grace', 'close_timed_out'),
    },
    { weight: 2, arbitrary: fc.constantFrom('close', 'close_always', 'died', 'lost') },
  ),
  pick: fc.nat(8),
});

interface World {
  state: SessionState<number>;
  requests: number;
  started: number[];
  running: number | undefined;
  closeAsked: boolean;
  closed: number;
  summaries: number;
  answers: Map<number, number>;
  closeAnswers: Map<number, number>;
  closers: number;
  waiting: number[];
}

function toInput({ what, pick }: Move, world: World): Input {
  // Mostly the turn that runs, at times one long over or yet to come.
  const turn = pick > 2 ? world.state.lastTurn : world.state.lastTurn - 2 + pick;
  const end = { type: 'turn_ended', turn, result: `r${turn}` } as const;
  switch (what) {
    case 'turn':
      return { type: 'client_turn', request: ++world.requests, payload: world.requests };
    case 'mail':
      return { type: 'mail_waiting' };
    case 'cancel':
      return { type: 'cancel', request: Math.max(1, world.requests - pick) };
    case 'ended':
      return { ...end, completed: true, lost: false };
    case 'broken':
      return { ...end, completed: false, lost: false };
    case 'lost':
      return { ...end, completed: false, lost: true };
    case 'timed_out':
      return { type: 'turn_timed_out', turn };
    case 'grace':
      return { type: 'grace_over', turn };
    case 'close':
    case 'close_always':
      return { type: 'close', request: ++world.closers, summary: what === 'close' ? 'when_busy' : 'always' };
    case 'close_timed_out':
      return { type: 'close_timed_out' };
    case 'died':
      break;
  }
  return { type: 'child_died' };
}

function apply(world: World, input: Input): void {
  const before = structuredClone(world.state);
  const again = stepSession(before, input);
  const { state, effects } = stepSession(world.state, input);
  expect(world.state).toEqual(before);
  expect({ state, effects }).toEqual(again);
  if (input.type === 'client_turn') world.waiting.push(input.request);
  if (input.type === 'close') world.closeAsked = true;
  if (input.type === 'turn_ended' && input.turn === world.running) world.running = undefined;
  world.state = state;
  for (const effect of effects) check(world, effect);
  // Closing answers at once whoever only waited.
  if (world.closeAsked) expect(state.queue).toEqual([]);
  expect(state.phase === 'busy').toBe(state.running !== undefined && state.phase !== 'closing');
  if (state.phase === 'idle') expect(state.queue).toEqual([]);
}

function check(world: World, effect: Effect): void {
  switch (effect.type) {
    case 'start':
      // [FR-8.9] single flight.
      expect(world.running).toBeUndefined();
      expect(world.closed).toBe(0);
      world.running = effect.turn;
      if (effect.source === 'summary') {
        expect(world.closeAsked).toBe(true);
        expect(++world.summaries).toBe(1);
      } else expect(world.closeAsked).toBe(false);
      // [FR-8.11] mail only when no client waits, clients in the order in which they came.
      if (effect.source === 'mail') expect(world.waiting).toEqual([]);
      if (effect.source === 'client') {
        expect(effect.payload).toBe(world.waiting.shift());
        world.started.push(effect.payload ?? 0);
      }
      return;
    case 'answer':
      world.answers.set(effect.request, (world.answers.get(effect.request) ?? 0) + 1);
      world.waiting = world.waiting.filter((request) => request !== effect.request);
      return;
    case 'closed':
      expect(++world.closed).toBe(1);
      world.running = undefined;
      return;
    case 'answer_close':
      expect(world.closed).toBe(1);
      world.closeAnswers.set(effect.request, (world.closeAnswers.get(effect.request) ?? 0) + 1);
      return;
    case 'interrupt':
    case 'closing':
  }
}

test('[FR-8.9] [FR-17.10] [FR-17.11] [PROXY-X5] whatever happens in whatever order, the rules hold and each request is answered exactly once', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), fc.boolean(), (moves, closeAtEnd) => {
      const world: World = {
        state: newSession(),
        requests: 0,
        started: [],
        running: undefined,
        closeAsked: false,
        closed: 0,
        summaries: 0,
        answers: new Map(),
        closeAnswers: new Map(),
        closers: 0,
        waiting: [],
      };
      for (const one of moves) apply(world, toInput(one, world));
      if (closeAtEnd) apply(world, { type: 'close', request: ++world.closers, summary: 'when_busy' });
      // The child answers what it still owes, as the driver makes sure.
      for (let i = 0; i < 2 + world.requests && world.state.running !== undefined; i++)
        apply(world, {
          type: 'turn_ended',
          turn: world.state.running.turn,
          result: 'late',
          completed: i % 2 === 0,
          lost: false,
        });
      expect(world.state.running).toBeUndefined();
      expect(world.started).toEqual(world.started.toSorted((a, b) => a - b));
      expect([...world.answers].toSorted(([a], [b]) => a - b)).toEqual(
        Array.from({ length: world.requests }, (_, i) => [i + 1, 1]),
      );
      expect([...world.closeAnswers].toSorted(([a], [b]) => a - b)).toEqual(
        Array.from({ length: world.closers }, (_, i) => [i + 1, 1]),
      );
    }),
    { numRuns: 1_000 },
  );
}, 60_000);
