/** The rules of one session as plain data: what is in flight, what waits, and what comes next. */

/** A request of the client, by a number that is unique within the session. */
export type RequestKey = number;

type Phase = 'idle' | 'busy' | 'closing' | 'closed';

export type TurnSource = 'client' | 'mail' | 'summary';

/** Why a turn that runs is to end early. */
type Stop = 'cancelled' | 'timed_out' | 'closed';

interface RunningTurn {
  turn: number;
  source: TurnSource;
  /** The request that waits for it, until that is answered. */
  request: RequestKey | undefined;
  stop: Stop | undefined;
}

export interface SessionState<P> {
  phase: Phase;
  running: RunningTurn | undefined;
  queue: readonly { request: RequestKey; payload: P }[];
  mailWaiting: boolean;
  closers: readonly RequestKey[];
  dead: boolean;
  lastTurn: number;
}

/** `completed` and `lost` say what the rules need of a result; `lost`: there is no thread to go on with. */
export type SessionInput<P, R> =
  | { type: 'client_turn'; request: RequestKey; payload: P }
  | { type: 'mail_waiting' }
  | { type: 'cancel'; request: RequestKey }
  | { type: 'turn_ended'; turn: number; result: R; completed: boolean; lost: boolean }
  | { type: 'turn_timed_out'; turn: number }
  | { type: 'grace_over'; turn: number }
  | { type: 'close'; request: RequestKey; summary: 'when_busy' | 'always' }
  | { type: 'close_timed_out' }
  | { type: 'child_died' };

/** How a request of the client ends; without a result nothing was said by then. */
export type TurnAnswer = 'result' | Stop | 'dead';

export type SessionEffect<P, R> =
  | { type: 'start'; turn: number; source: TurnSource; payload: P | undefined }
  /** The turn's own end is still waited for, its answer only for a moment. */
  | { type: 'interrupt'; turn: number }
  | { type: 'answer'; request: RequestKey; how: TurnAnswer; result: R | undefined }
  /** From here the time for closing runs, and approvals are refused. */
  | { type: 'closing' }
  | { type: 'closed'; interrupted: boolean; summary: R | undefined }
  | { type: 'answer_close'; request: RequestKey };

export interface Transition<P, R> {
  state: SessionState<P>;
  effects: SessionEffect<P, R>[];
}

/** A session before its first turn. */
export function newSession<P>(): SessionState<P> {
  return {
    phase: 'idle',
    running: undefined,
    queue: [],
    mailWaiting: false,
    closers: [],
    dead: false,
    lastTurn: 0,
  };
}

/** Close goes before cancel and time-out, those before the client's turns, those before mail; one turn at a time. */
export function stepSession<P, R>(state: SessionState<P>, input: SessionInput<P, R>): Transition<P, R> {
  switch (input.type) {
    case 'client_turn':
      return takeTurn(state, input);
    case 'mail_waiting':
      if (state.phase === 'idle' && !state.dead) return start(state, 'mail');
      return only({ ...state, mailWaiting: state.phase === 'busy' && !state.dead });
    case 'cancel':
      return cancel(state, input.request);
    case 'turn_timed_out':
      return state.running?.turn === input.turn ? stop(state, 'timed_out') : only(state);
    case 'grace_over':
      return graceOver(state, input.turn);
    case 'turn_ended':
      return turnEnded(state, input);
    case 'close':
      return close(state, input);
    case 'close_timed_out':
      return state.phase === 'closing' ? giveUp(state) : only(state);
    case 'child_died':
      break;
  }
  return { state: { ...state, queue: [], mailWaiting: false, dead: true }, effects: flush(state, 'dead') };
}

function takeTurn<P, R>(
  state: SessionState<P>,
  input: { request: RequestKey; payload: P },
): Transition<P, R> {
  const { request, payload } = input;
  const refusal = state.phase === 'closing' || state.phase === 'closed' ? 'closed' : state.dead && 'dead';
  if (refusal !== false) return { state, effects: [answer(request, refusal)] };
  if (state.phase === 'idle') return start(state, 'client', { request, payload });
  return only({ ...state, queue: [...state.queue, { request, payload }] });
}

function start<P, R>(
  state: SessionState<P>,
  source: TurnSource,
  asked?: { request: RequestKey; payload: P },
): Transition<P, R> {
  const turn = state.lastTurn + 1;
  return {
    state: {
      ...state,
      phase: source === 'summary' ? 'closing' : 'busy',
      running: { turn, source, request: asked?.request, stop: undefined },
      mailWaiting: source === 'mail' ? false : state.mailWaiting,
      lastTurn: turn,
    },
    effects: [{ type: 'start', turn, source, payload: asked?.payload }],
  };
}

function cancel<P, R>(state: SessionState<P>, request: RequestKey): Transition<P, R> {
  if (state.running?.request === request) return stop(state, 'cancelled');
  const queue = state.queue.filter((queued) => queued.request !== request);
  if (queue.length === state.queue.length) return only(state);
  return { state: { ...state, queue }, effects: [answer(request, 'cancelled')] };
}

/** A turn is stopped once, for the first reason. */
function stop<P, R>(state: SessionState<P>, reason: Stop): Transition<P, R> {
  const { running } = state;
  if (running === undefined || running.stop !== undefined || running.source === 'summary') return only(state);
  return {
    state: { ...state, running: { ...running, stop: reason } },
    effects: [{ type: 'interrupt', turn: running.turn }],
  };
}

function graceOver<P, R>(state: SessionState<P>, turn: number): Transition<P, R> {
  const { running } = state;
  if (running?.turn !== turn || running.stop === undefined || running.request === undefined)
    return only(state);
  return {
    state: { ...state, running: { ...running, request: undefined } },
    effects: [answer(running.request, running.stop)],
  };
}

function turnEnded<P, R>(
  state: SessionState<P>,
  input: { turn: number; result: R; completed: boolean; lost: boolean },
): Transition<P, R> {
  const { running } = state;
  if (running?.turn !== input.turn) return only(state);
  const { request, stop: stopped, source } = running;
  const how = stopped === undefined || input.completed ? 'result' : stopped;
  const effects = request === undefined ? [] : [answer<P, R>(request, how, input.result)];
  const next = following({ ...state, running: undefined }, source, input);
  return { state: next.state, effects: [...effects, ...next.effects] };
}

function following<P, R>(
  state: SessionState<P>,
  source: TurnSource,
  { result, completed, lost }: { result: R; completed: boolean; lost: boolean },
): Transition<P, R> {
  if (source === 'summary') return finish<P, R>(state, !completed, completed ? result : undefined);
  if (lost) return finish<P, R>(state, true, undefined);
  if (state.phase === 'closing')
    return state.dead ? finish<P, R>(state, true, undefined) : start(state, 'summary');
  const [first, ...queue] = state.queue;
  if (first !== undefined) return start({ ...state, queue }, 'client', first);
  return state.mailWaiting ? start(state, 'mail') : only({ ...state, phase: 'idle' });
}

function close<P, R>(
  state: SessionState<P>,
  { request, summary }: { request: RequestKey; summary: 'when_busy' | 'always' },
): Transition<P, R> {
  if (state.phase === 'closed') return { state, effects: [{ type: 'answer_close', request }] };
  const asked = { ...state, closers: [...state.closers, request] };
  if (state.phase === 'closing') return only(asked);
  if (state.phase === 'idle') {
    if (summary === 'when_busy' || state.dead || state.lastTurn === 0)
      return finish<P, R>(asked, false, undefined);
    const begun = start<P, R>(asked, 'summary');
    return { state: begun.state, effects: [{ type: 'closing' }, ...begun.effects] };
  }
  const emptied: SessionState<P> = { ...asked, phase: 'closing', queue: [], mailWaiting: false };
  const stopped = stop<P, R>(emptied, 'closed');
  return {
    state: stopped.state,
    effects: [...flush<P, R>(state, 'closed'), { type: 'closing' }, ...stopped.effects],
  };
}

/** The time for closing is over; what still runs is stopped and its end no longer waited for. */
function giveUp<P, R>(state: SessionState<P>): Transition<P, R> {
  const { running } = state;
  const finished = finish<P, R>({ ...state, running: undefined }, true, undefined);
  return {
    state: finished.state,
    effects: [
      ...(running === undefined ? [] : [{ type: 'interrupt', turn: running.turn } as const]),
      ...(running?.request === undefined ? [] : [answer<P, R>(running.request, running.stop ?? 'closed')]),
      ...finished.effects,
    ],
  };
}

function finish<P, R>(
  state: SessionState<P>,
  interrupted: boolean,
  summary: R | undefined,
): Transition<P, R> {
  return {
    state: { ...state, phase: 'closed', queue: [], mailWaiting: false, closers: [] },
    effects: [
      ...flush<P, R>(state, 'closed'),
      { type: 'closed', interrupted, summary },
      ...state.closers.map((request) => ({ type: 'answer_close', request }) as const),
    ],
  };
}

function flush<P, R>(state: SessionState<P>, how: TurnAnswer): SessionEffect<P, R>[] {
  return state.queue.map(({ request }) => answer(request, how));
}

function answer<P, R>(request: RequestKey, how: TurnAnswer, result?: R): SessionEffect<P, R> {
  return { type: 'answer', request, how, result };
}

function only<P, R>(state: SessionState<P>): Transition<P, R> {
  return { state, effects: [] };
}
