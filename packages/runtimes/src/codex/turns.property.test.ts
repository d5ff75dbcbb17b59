import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RuntimeError } from '../runtime-error.ts';
import type { BackendName, TurnResult } from './backend.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { type ModelDriver, openModelDriver, type Written } from './model-child.ts';

/** What happens next, on one of the threads; `luck` decides what the child leaves to chance. */
const step = fc.record({
  what: fc.oneof(
    // The plain course of a turn, so that the rest happens in its midst.
    { weight: 60, arbitrary: fc.constant('on' as const) },
    {
      weight: 40,
      arbitrary: fc.constantFrom(
        ...(['run', 'say', 'fail', 'interrupt', 'abort', 'confirm', 'ask', 'respond', 'resolve'] as const),
        ...(['echo', 'echo', 'answer', 'nonsense', 'wait'] as const),
      ),
    },
    { weight: 1, arbitrary: fc.constant('die' as const) },
  ),
  thread: fc.constantFrom(0, 1),
  luck: fc.nat(5),
});

/** A turn that was asked for, and what became of it. */
interface Run {
  n: number;
  thread: number;
  abort: AbortController;
  begun: boolean;
  ended: 'completed' | 'failed' | 'interrupted' | undefined;
  stopped: boolean;
  /** Settled before the child let go. */
  gaveUp: boolean;
  isChecked: boolean;
  callId: number | string | undefined;
  settled: (TurnResult | RuntimeError)[];
}

/** What the child itself knows of a thread. */
interface Side {
  id: string;
  open: Run | undefined;
  past: Run[];
  /** mcp-server: calls that were cancelled and still listen. */
  listeners: (number | string)[];
  lost: boolean;
  /** mcp-server: answers that are on their way. */
  late: (() => void)[];
}

const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each(['app-server', 'mcp-server'] as BackendName[])(
  'on %s every turn settles once and as its own, whatever the child does',
  { timeout: 60_000 },
  async (backend) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }), async (steps) => {
        vi.clearAllTimers();
        const world = await openWorld(backend);
        for (const { what, thread, luck } of steps) {
          if (world.dead) break;
          world.play(what, thread, luck);
          await flush();
          world.check();
        }
        world.play('die', 0, 0);
        await flush();
        world.checkEnd();
      }),
      { numRuns: 250 },
    );
  },
);

async function openWorld(backend: BackendName) {
  const isMcp = backend === 'mcp-server';
  const sides: Side[] = ['thread-a', 'thread-b'].map((id) => ({
    id,
    open: undefined,
    past: [],
    listeners: [],
    lost: false,
    late: [],
  }));
  const runs: Run[] = [];
  const refused: { run: Run; code: string }[] = [];
  const asked: { side: Side; rpcId: number; run: Run }[] = [];
  let lastAsk = -1;
  const opening: { side: Side | undefined } = { side: undefined };
  const driver: ModelDriver = openModelDriver(backend, (message) => hear(message));
  const world = { dead: false, play, check, checkEnd };

  const send = (message: object): void => driver.peer.take(JSON.stringify(message));
  const event = (side: Side, requestId: unknown, n: number, msg: object): void =>
    send({
      method: 'codex/event',
      params: {
        _meta: { requestId, threadId: side.id },
        id: `turn-${n}`,
        msg: { turn_id: `turn-${n}`, ...msg },
      },
    });
  const answer = (side: Side, id: unknown, content: string, isError = false): void =>
    send({
      id,
      result: {
        isError,
        content: [{ type: 'text', text: content }],
        structuredContent: { threadId: side.id, content },
      },
    });
  const notice = (method: string, side: Side, params: object): void =>
    send({ method, params: { threadId: side.id, ...params } });

  /** The child hears a message; what it does about it is a step of its own. */
  function hear({ id, method, params }: Written): void {
    if (method === 'thread/start')
      return send({ id, result: { thread: { id: opening.side?.id, status: { type: 'idle' } } } });
    if (method === 'turn/start' || method === 'tools/call') {
      const side = opening.side ?? sides.find((candidate) => JSON.stringify(params).includes(candidate.id));
      if (side?.open !== undefined) side.open.callId = id;
      return;
    }
    if (method === 'turn/interrupt') {
      const turn = sides.find((side) => side.id === params?.['threadId'])?.open;
      if (turn?.begun === true) send({ id, result: {} });
      else send({ id, error: { code: -32600, message: 'no active turn to interrupt' } });
    }
  }

  for (const side of sides) {
    opening.side = side;
    if (isMcp) {
      const call = driver.written.length;
      const started = driver.adapter.startThread({ cwd: '/' }, { prompt: 'first' });
      const { id } = driver.written[call] as Written;
      event(side, id, -1, { type: 'task_started' });
      event(side, id, -1, { type: 'task_complete', last_agent_message: '' });
      answer(side, id, '');
      await (
        await started
      ).turn;
    } else await driver.adapter.startThread({ cwd: '/' });
  }
  opening.side = undefined;

  function end(side: Side, turn: Run, how: 'completed' | 'failed' | 'interrupted'): void {
    turn.ended = how;
    side.open = undefined;
    side.past.push(turn);
    for (let i = asked.length - 1; i >= 0; i--) if (asked[i]?.run === turn) asked.splice(i, 1);
  }

  /** mcp-server: one of all who listen gets the end, and answers under its own id. */
  function pickListener(side: Side, own: number | string, luck: number): number | string {
    const all = [...side.listeners, own];
    const picked = all[luck % all.length] as number | string;
    side.listeners = all.filter((id) => id !== picked);
    return picked;
  }

  function run(thread: number): void {
    const side = sides[thread] as Side;
    const next: Run = {
      n: runs.length,
      thread,
      abort: new AbortController(),
      begun: false,
      ended: undefined,
      stopped: false,
      gaveUp: false,
      isChecked: false,
      callId: undefined,
      settled: [],
    };
    const expected = side.lost ? 'THREAD_LOST' : side.open === undefined ? undefined : 'BUSY';
    if (expected === undefined) side.open = next;
    const input = { prompt: `p${next.n} `, signal: next.abort.signal };
    driver.adapter.runTurn(side.id, input).then(
      (result) => next.settled.push(result),
      (error: RuntimeError) => next.settled.push(error),
    );
    if (expected === undefined) runs.push(next);
    else refused.push({ run: next, code: expected });
  }

  function play(
    what: (typeof step extends fc.Arbitrary<infer S> ? S : never)['what'],
    thread: number,
    luck: number,
  ): void {
    const side = sides[thread] as Side;
    const open = side.open;
    const begun = open?.begun === true ? open : undefined;
    if (what === 'run' || (what === 'on' && open === undefined)) run(thread);
    else if (what === 'die') {
      if (world.dead) return;
      world.dead = true;
      driver.die();
    } else if (what === 'on' && open !== undefined && !open.begun) {
      open.begun = true;
      if (isMcp) event(side, open.callId, open.n, { type: 'task_started' });
      else {
        const named = (): void => send({ id: open.callId, result: { turn: { id: `turn-${open.n}` } } });
        if (luck % 2 === 0) named();
        notice('turn/started', side, { turn: { id: `turn-${open.n}` } });
        if (luck % 2 === 1) named();
      }
    } else if (what === 'say' && begun !== undefined) {
      if (isMcp)
        event(side, begun.callId, begun.n, {
          type: 'agent_message_content_delta',
          item_id: 'i',
          delta: `part-${begun.n}`,
        });
      else
        notice('item/agentMessage/delta', side, {
          turnId: `turn-${begun.n}`,
          itemId: 'i',
          delta: `part-${begun.n}`,
        });
    } else if (what === 'on' && begun !== undefined) {
      if (begun.stopped && luck < 4) confirm(side, begun);
      else complete(side, begun, luck);
    } else if (what === 'fail' && begun !== undefined) fail(side, begun, luck);
    else if (what === 'interrupt' && open !== undefined) {
      open.stopped = true;
      void driver.adapter.interrupt(side.id);
    } else if (what === 'abort' && open !== undefined) {
      open.stopped = true;
      open.abort.abort(new Error('stop'));
    } else if (what === 'confirm' && begun?.stopped === true) confirm(side, begun);
    else if (what === 'ask' && begun !== undefined) ask(side, begun);
    else if (what === 'respond') driver.approvals[luck]?.respond(luck % 2 === 0 ? 'accept' : { text: 'no' });
    else if (what === 'resolve' && !isMcp && asked.length > 0) {
      const [{ side: of, rpcId }] = asked.splice(luck % asked.length, 1) as [(typeof asked)[number]];
      notice('serverRequest/resolved', of, { requestId: rpcId });
    } else if (what === 'answer') sendLate(side);
    else if (what === 'echo') echo(side, luck);
    else if (what === 'wait') {
      vi.advanceTimersByTime(DEFAULT_LIMITS.interruptMs);
      for (const { open: turn } of sides) if (turn?.stopped === true) turn.gaveUp = true;
    } else if (what === 'nonsense') {
      for (const line of ['{', '[]', 'null', '{"id":{}}', '{"id":99999,"result":{"content":[]}}'])
        driver.peer.take(line);
    }
  }

  function complete(side: Side, turn: Run, luck: number): void {
    end(side, turn, 'completed');
    if (!isMcp) {
      const items = [{ type: 'agentMessage', text: `text-${turn.n}` }];
      return notice('turn/completed', side, { turn: { id: `turn-${turn.n}`, status: 'completed', items } });
    }
    const under = pickListener(side, turn.callId as number, luck);
    event(side, under, turn.n, { type: 'task_complete', last_agent_message: `text-${turn.n}` });
    side.late.push(() => answer(side, under, `text-${turn.n}`));
    if (luck > 1) sendLate(side);
  }

  function sendLate(side: Side): void {
    for (const each of side.late.splice(0)) each();
  }

  function fail(side: Side, turn: Run, luck: number): void {
    end(side, turn, 'failed');
    if (!isMcp) {
      const error = { message: 'boom' };
      return notice('turn/completed', side, {
        turn: { id: `turn-${turn.n}`, status: 'failed', items: [], error },
      });
    }
    const under = pickListener(side, turn.callId as number, luck);
    event(side, under, turn.n, { type: 'error', message: 'boom' });
    answer(side, under, 'boom', true);
    // The end of the failed turn stays unread unless somebody else still listens.
    const reader = side.listeners.shift();
    side.lost = reader === undefined;
    if (reader === undefined) return;
    event(side, reader, turn.n, {
      type: 'task_complete',
      last_agent_message: null,
      error: { message: 'boom' },
    });
    side.late.push(() => answer(side, reader, ''));
    if (luck > 1) sendLate(side);
  }

  function confirm(side: Side, turn: Run): void {
    end(side, turn, 'interrupted');
    if (!isMcp)
      return notice('turn/completed', side, {
        turn: { id: `turn-${turn.n}`, status: 'interrupted', items: [] },
      });
    side.listeners.push(turn.callId as number);
    event(side, turn.callId, turn.n, { type: 'turn_aborted', reason: 'interrupted' });
  }

  function ask(side: Side, turn: Run): void {
    const id = ++lastAsk;
    asked.push({ side, rpcId: id, run: turn });
    const common = { threadId: side.id, turnId: `turn-${turn.n}` };
    if (isMcp)
      send({ id, method: 'elicitation/create', params: { ...common, codex_elicitation: 'exec-approval' } });
    else send({ id, method: 'item/commandExecution/requestApproval', params: { ...common, itemId: 'i' } });
  }

  /** Something of an earlier turn is said again. */
  function echo(side: Side, luck: number): void {
    const old = side.past[luck % Math.max(1, side.past.length)];
    if (!isMcp && luck === 5)
      return notice('turn/completed', side, { turn: { id: 'of-another-client', items: [] } });
    if (old === undefined) return;
    if (!isMcp)
      notice('turn/completed', side, { turn: { id: `turn-${old.n}`, status: 'failed', items: [] } });
    else event(side, old.callId, old.n, { type: 'turn_aborted' });
  }

  function check(): void {
    for (const { run: turn, code } of refused.splice(0)) expect(turn.settled).toMatchObject([{ code }]);
    const waiting = new Set(sides.flatMap(({ id, open }) => (open === undefined ? [] : [id])));
    const closed = new Set(driver.closed.map(([id]) => id));
    for (const { id, threadId } of driver.approvals) if (!waiting.has(threadId)) expect(closed).toContain(id);
    for (const turn of runs) {
      if (turn.isChecked) continue;
      turn.isChecked = turn.ended !== undefined;
      expect(turn.settled.length).toBeLessThanOrEqual(1);
      if (turn.ended !== undefined || world.dead) expect(turn.settled).toHaveLength(1);
      const [result] = turn.settled as TurnResult[];
      if (result === undefined) continue;
      const mine = { threadId: sides[turn.thread]?.id, turnId: turn.begun ? `turn-${turn.n}` : undefined };
      if (turn.gaveUp)
        expect(result).toMatchObject({ status: 'interrupted', error: { code: 'unconfirmed' } });
      else if (turn.ended !== undefined) expect(result).toMatchObject({ ...mine, status: turn.ended });
      else if (!world.dead)
        expect(result).toMatchObject({ status: 'interrupted', error: { code: 'unconfirmed' } });
      if (turn.ended === 'completed' && !turn.gaveUp) expect(result.text).toBe(`text-${turn.n}`);
      else expect(result.text.replaceAll(`part-${turn.n}`, '')).toBe('');
    }
  }

  function checkEnd(): void {
    check();
    for (const { abort, settled } of runs) {
      expect(settled).toHaveLength(1);
      expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    }
    expect(driver.closed.map(([id]) => id).toSorted()).toEqual(
      driver.approvals.map(({ id }) => id).toSorted(),
    );
    const answers = driver.written.filter(({ method }) => method === undefined).map(({ id }) => id);
    expect(new Set(answers).size).toBe(answers.length);
    driver.peer.failAll(new Error('over') as RuntimeError);
    expect(vi.getTimerCount()).toBe(0);
  }

  return world;
}
