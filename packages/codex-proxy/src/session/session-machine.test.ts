import { describe, expect, test } from 'vitest';

import {
  newSession,
  type SessionEffect,
  type SessionInput,
  type SessionState,
  stepSession,
} from './session-machine.ts';

type Input = SessionInput<string, string>;

/** Plays inputs and tells what each brought about, in short words. */
function play(...inputs: Input[]): { reported: string[][]; state: SessionState<string> } {
  let state = newSession<string>();
  const reported = inputs.map((input) => {
    const step = stepSession(state, input);
    state = step.state;
    return step.effects.map(tell);
  });
  return { reported, state };
}

function tell(effect: SessionEffect<string, string>): string {
  switch (effect.type) {
    case 'start':
      return `start ${effect.source} ${effect.turn}${effect.payload === undefined ? '' : ` ${effect.payload}`}`;
    case 'interrupt':
      return `interrupt ${effect.turn}`;
    case 'answer':
      return `answer ${effect.request} ${effect.how}${effect.result === undefined ? '' : ` ${effect.result}`}`;
    case 'closed':
      return `closed${effect.interrupted ? ' interrupted' : ''}${effect.summary === undefined ? '' : ` ${effect.summary}`}`;
    case 'answer_close':
      return `answer_close ${effect.request}`;
    case 'closing':
      break;
  }
  return effect.type;
}

const ask = (request: number, payload = `p${request}`): Input => ({ type: 'client_turn', request, payload });
const ended = (turn: number, result = `r${turn}`): Input => ({
  type: 'turn_ended',
  turn,
  result,
  completed: true,
  lost: false,
});
const broken = (turn: number, result = `part${turn}`): Input => ({
  type: 'turn_ended',
  turn,
  result,
  completed: false,
  lost: false,
});
const close = (request: number): Input => ({ type: 'close', request, summary: 'when_busy' });
const mail: Input = { type: 'mail_waiting' };

describe('busy while a turn runs, idle after it', () => {
  test('[FR-17.1] [FR-17.2] turn after turn', () => {
    expect(play(ask(1)).state.phase).toBe('busy');
    const { reported, state } = play(ask(1), ended(1), ask(2), ended(2));
    expect(reported).toEqual([
      ['start client 1 p1'],
      ['answer 1 result r1'],
      ['start client 2 p2'],
      ['answer 2 result r2'],
    ]);
    expect(state.phase).toBe('idle');
  });
});

describe('[FR-8.9] one turn at a time, the client before mail', () => {
  test('[FR-8.10] [C-PROXY-19] a client turn during a mail turn waits, in order', () => {
    const { reported } = play(mail, ask(1), ask(2), ended(1), ended(2), ended(3));
    expect(reported).toEqual([
      ['start mail 1'],
      [],
      [],
      ['start client 2 p1'],
      ['answer 1 result r2', 'start client 3 p2'],
      ['answer 2 result r3'],
    ]);
  });

  test('[FR-8.11] [C-PROXY-19] when both wait, the client goes first and mail at the next idle moment', () => {
    const { reported } = play(ask(1), mail, ask(2), ended(1), ended(2), ended(3));
    expect(reported.slice(3)).toEqual([
      ['answer 1 result r1', 'start client 2 p2'],
      ['answer 2 result r2', 'start mail 3'],
      [],
    ]);
  });

  test('[FR-17.6] mail waits while a turn runs, and is told once', () => {
    const { reported } = play(ask(1), mail, mail, ended(1), ended(2));
    expect(reported).toEqual([['start client 1 p1'], [], [], ['answer 1 result r1', 'start mail 2'], []]);
  });
});

describe('[FR-14.2] [C-PROXY-07] a time-out', () => {
  const timeOut: Input = { type: 'turn_timed_out', turn: 1 };

  test('interrupts, and answers with what was said by then', () => {
    const { reported, state } = play(ask(1), timeOut, broken(1), ask(2));
    expect(reported).toEqual([
      ['start client 1 p1'],
      ['interrupt 1'],
      ['answer 1 timed_out part1'],
      ['start client 2 p2'],
    ]);
    expect(state.phase).toBe('busy');
  });

  test('[FR-17.11] answers without it when the child is slow to stop, and the next turn waits for that', () => {
    const { reported } = play(ask(1), timeOut, { type: 'grace_over', turn: 1 }, ask(2), broken(1));
    expect(reported.slice(2)).toEqual([['answer 1 timed_out'], [], ['start client 2 p2']]);
  });

  test('a turn that completed all the same is answered with its result', () => {
    expect(play(ask(1), timeOut, ended(1)).reported[2]).toEqual(['answer 1 result r1']);
  });

  test('of an earlier turn means nothing', () => {
    expect(play(ask(1), ended(1), ask(2), timeOut).reported[3]).toEqual([]);
  });
});

describe('cancel', () => {
  test('takes a waiting request out, and interrupts a running one', () => {
    const { reported } = play(
      ask(1),
      ask(2),
      { type: 'cancel', request: 2 },
      { type: 'cancel', request: 1 },
      broken(1),
    );
    expect(reported.slice(2)).toEqual([
      ['answer 2 cancelled'],
      ['interrupt 1'],
      ['answer 1 cancelled part1'],
    ]);
  });
});

describe('[FR-17.3] [FR-17.10] closing', () => {
  test('[C-PROXY-20] an idle session closes at once', () => {
    expect(play(ask(1), ended(1), close(9)).reported[2]).toEqual(['closed', 'answer_close 9']);
  });

  test('[C-PROXY-20] [FR-17.4] a busy one is interrupted, sums up, and is closed; who waits is told SESSION_CLOSED', () => {
    const { reported, state } = play(ask(1), ask(2), mail, close(9), broken(1), ended(2, 'sum'));
    expect(reported.slice(3)).toEqual([
      ['answer 2 closed', 'closing', 'interrupt 1'],
      ['answer 1 closed part1', 'start summary 2'],
      ['closed sum', 'answer_close 9'],
    ]);
    expect(state.phase).toBe('closed');
  });

  test('[FR-17.4] [C-PROXY-21] when the time is over it is closed as interrupted', () => {
    const { reported } = play(ask(1), close(9), broken(1), { type: 'close_timed_out' }, ended(2));
    expect(reported.slice(3)).toEqual([['interrupt 2', 'closed interrupted', 'answer_close 9'], []]);
  });

  test('when not even the running turn ends, its request is answered too', () => {
    expect(play(ask(1), close(9), { type: 'close_timed_out' }).reported[2]).toEqual([
      'interrupt 1',
      'answer 1 closed',
      'closed interrupted',
      'answer_close 9',
    ]);
  });

  test('[C-PROXY-20] [FR-17.9] closing again is a success, during and after', () => {
    const { reported } = play(ask(1), close(8), close(9), broken(1), ended(2), close(10));
    expect(reported.slice(4)).toEqual([
      ['closed r2', 'answer_close 8', 'answer_close 9'],
      ['answer_close 10'],
    ]);
  });

  test('[FR-17.11] nothing but the summary starts any more', () => {
    const { reported } = play(ask(1), close(9), ask(2), mail, broken(1), ask(3), ended(2), ask(4), mail);
    expect(reported.flat().filter((line) => line.startsWith('start'))).toEqual([
      'start client 1 p1',
      'start summary 2',
    ]);
    expect(reported.flat()).toEqual(
      expect.arrayContaining(['answer 2 closed', 'answer 3 closed', 'answer 4 closed']),
    );
  });

  test('an idle session sums up when asked to, as before the end of the program', () => {
    const always: Input = { type: 'close', request: 9, summary: 'always' };
    expect(play(ask(1), ended(1), always, ended(2, 'sum')).reported.slice(2)).toEqual([
      ['closing', 'start summary 2'],
      ['closed sum', 'answer_close 9'],
    ]);
  });
});

describe('[FR-11.1] the child dies', () => {
  test('every waiting request is told, and every later one', () => {
    const { reported } = play(ask(1), ask(2), { type: 'child_died' }, broken(1, 'exit'), ask(3), mail);
    expect(reported.slice(2)).toEqual([['answer 2 dead'], ['answer 1 result exit'], ['answer 3 dead'], []]);
  });

  test('a dead session still closes, without a summary', () => {
    const { reported } = play(ask(1), { type: 'child_died' }, close(9), broken(1));
    expect(reported.slice(2)).toEqual([
      ['closing', 'interrupt 1'],
      ['answer 1 closed part1', 'closed interrupted', 'answer_close 9'],
    ]);
  });

  test('a session whose thread never came to be is closed', () => {
    const lost: Input = { type: 'turn_ended', turn: 1, result: 'no', completed: false, lost: true };
    expect(play(ask(1), ask(2), lost).reported[2]).toEqual([
      'answer 1 result no',
      'answer 2 closed',
      'closed interrupted',
    ]);
  });
});
