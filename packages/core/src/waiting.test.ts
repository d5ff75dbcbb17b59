// oxlint-disable-next-line eslint/no-restricted-imports -- the test has memory collected
import { setFlagsFromString } from 'node:v8';
// oxlint-disable-next-line eslint/no-restricted-imports -- the test has memory collected
import { runInNewContext } from 'node:vm';

import { inTime, type OperationName } from '@parley/protocol';
import { expect, test } from 'vitest';

import { openSampleHub } from './sample-hub.ts';
import { callerOf, NOW } from './store-contract/scene.ts';
import { openMemoryStore } from './store-memory.ts';

const sleep = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(() => resolve(value), ms));

const ended = (limit: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => limit.addEventListener('abort', () => resolve(limit.reason)));

/** What comes of some work while memory is collected, as it is in a hub that has much to do. */
async function amidCollection<T>(work: Promise<T>): Promise<T | 'never'> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 5; i++) {
    collect();
    await sleep(10, undefined);
  }
  return Promise.race([work, sleep(5_000, 'never' as const)]);
}

test('work ends after its time, also where memory is collected meanwhile', async () => {
  const work = inTime(200, new AbortController().signal, ended);
  expect(await amidCollection(work)).toMatchObject({ name: 'TimeoutError' });
});

test('work ends with the other signal, for its reason', async () => {
  const other = new AbortController();
  const work = inTime(60_000, other.signal, ended);
  other.abort('enough');
  expect(await work).toBe('enough');
});

test('work that is done leaves no timer behind, and its error is told', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const { signal } = new AbortController();
  expect(await inTime(60_000, signal, async () => 'done')).toBe('done');
  await expect(inTime(60_000, signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(timers()).toBe(before);
});

test('every call that waits is answered after the time it asked for, whatever memory is collected', async () => {
  const { call } = openSampleHub(
    openMemoryStore(() => NOW),
    { now: NOW },
  );
  const alice = callerOf('alice', 'w');
  const { thread_id } = (await call(alice, 'create_thread', { title: 't' })) as { thread_id: string };
  const { ask } = (await call(alice, 'raise_ask', { prompt: 'May I?' })) as { ask: { ask_id: string } };
  const waits: [OperationName, object, object][] = [
    ['wait_for_messages', { thread_id, since_seq: 1 }, { timed_out: true }],
    ['wait_for_messages', { since_seq: 1_000 }, { timed_out: true }],
    ['wait_for_ask', { ask_id: ask.ask_id }, { timed_out: true }],
    ['wait_for_wake', { native_session_id: '01890000-0000-7000-8000-000000000001' }, { wake: null }],
  ];
  for (const [name, input, answer] of waits) {
    const waiting = call(alice, name, { ...input, timeout_ms: 200 });
    expect([name, await amidCollection(waiting)]).toMatchObject([name, answer]);
  }
});
