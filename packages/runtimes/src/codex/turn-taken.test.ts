import { expect, test } from 'vitest';

import type { BackendName } from './backend.ts';
import { openModelDriver } from './model-child.ts';

const THREAD = 'thread-a';

/** A thread whose next turn was asked for, and what its child may say of a turn. */
async function openScene(backend: BackendName) {
  const isMcp = backend === 'mcp-server';
  const driver = openModelDriver(backend, ({ id, method }) => {
    if (method === 'thread/start') send({ id, result: { thread: { id: THREAD, status: { type: 'idle' } } } });
  });
  const send = (message: object): void => driver.peer.take(JSON.stringify(message));
  const event = (turn_id: string, type: string, more: object = {}): void =>
    send({
      method: 'codex/event',
      params: {
        _meta: { threadId: THREAD, requestId: driver.written.at(-1)?.id },
        id: turn_id,
        msg: { type, turn_id, ...more },
      },
    });
  const notice = (method: string, params: object): void =>
    send({ method, params: { threadId: THREAD, ...params } });
  const say = {
    named: (turn: string): void => {
      if (!isMcp) send({ id: driver.written.at(-1)?.id, result: { turn: { id: turn } } });
    },
    started: (turn: string): void =>
      isMcp ? event(turn, 'task_started') : notice('turn/started', { turn: { id: turn } }),
    item: (turn: string): void =>
      isMcp
        ? event(turn, 'item_started', { item: { type: 'UserMessage', id: 'i' } })
        : notice('item/started', { turnId: turn, item: { type: 'userMessage', id: 'i' } }),
    completed: (turn: string): void =>
      isMcp
        ? event(turn, 'task_complete', { last_agent_message: 'done' })
        : notice('turn/completed', { turn: { id: turn, status: 'completed' } }),
  };
  const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const taken: string[] = [];
  const run = (name: string): Promise<unknown> =>
    driver.adapter.runTurn(THREAD, { prompt: name, onTaken: () => void taken.push(name) });
  const first = driver.adapter.startThread({ cwd: '/' }, { prompt: 'first' });
  await flush();
  say.named('t0');
  say.started('t0');
  await flush();
  say.completed('t0');
  await (
    await first
  ).turn;
  return { driver, say, flush, taken, run };
}

test.each(['app-server', 'mcp-server'] as BackendName[])(
  '%s has taken a turn when it tells of the first thing in it, not when it was asked or has begun, and says so once',
  async (backend) => {
    const { say, flush, taken, run } = await openScene(backend);
    const turn = run('second');
    await flush();
    expect(taken).toEqual([]);
    say.named('t1');
    say.started('t1');
    await flush();
    expect(taken).toEqual([]);
    say.item('t1');
    say.item('t1');
    expect(taken).toEqual(['second']);
    say.completed('t1');
    await turn;
    expect(taken).toEqual(['second']);
  },
);

test.each(['app-server', 'mcp-server'] as BackendName[])(
  'what %s still tells of an older turn does not count for the one that waits; an end counts without a beginning',
  async (backend) => {
    const { say, flush, taken, run } = await openScene(backend);
    const turn = run('second');
    await flush();
    say.item('t0');
    expect(taken).toEqual([]);
    say.named('t1');
    await flush();
    say.item('t0');
    expect(taken).toEqual([]);
    say.completed('t1');
    await turn;
    expect(taken).toEqual(['second']);
  },
);

test.each(['app-server', 'mcp-server'] as BackendName[])(
  'a %s that dies before that has taken nothing',
  async (backend) => {
    const { driver, say, flush, taken, run } = await openScene(backend);
    const turn = run('second');
    await flush();
    say.named('t1');
    say.started('t1');
    driver.die();
    await turn;
    expect(taken).toEqual([]);
  },
);
