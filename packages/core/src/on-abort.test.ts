import { expect, test } from 'vitest';

import { onAbort } from './on-abort.ts';
import { pause } from './pause.ts';

test('any number may wait for one signal: it has one listener, and ends them all but those who have left', async () => {
  const { signal, abort } = watched();
  const ended: number[] = [];
  const leave = Array.from({ length: 50 }, (_, i) => onAbort(signal, () => ended.push(i)));
  leave[7]?.();
  const paused = Array.from({ length: 50 }, () => pause(60_000, signal));
  expect(signal.listeners).toBe(1);
  abort();
  await Promise.all(paused);
  expect(ended).toEqual(Array.from({ length: 50 }, (_, i) => i).filter((i) => i !== 7));
});

test('a pause ends by itself, and then hears of no end', async () => {
  const { signal, abort } = watched();
  await pause(1, signal);
  abort();
  await pause(60_000, signal);
});

/** A signal that counts its listeners. */
function watched() {
  const controller = new AbortController();
  const counted = Object.assign(controller.signal, { listeners: 0 });
  const add = controller.signal.addEventListener.bind(controller.signal);
  counted.addEventListener = (...args: Parameters<typeof add>): void => {
    counted.listeners++;
    add(...args);
  };
  return { signal: counted, abort: () => controller.abort() };
}
