import { expect, onTestFinished, test } from 'vitest';

import { createMirror } from './mirror.ts';
import { createNodeCalls } from './node-calls.ts';
import { createSampleBuses } from './sample-buses.ts';

const clock = { monotonic: () => performance.now() };
const onFault = (error: unknown): void => {
  throw error;
};
/** As a call that is carried to another node is asked: it ends by its own time. */
const LONG = { timeoutMs: 3_600_000 };

function scene() {
  const buses = createSampleBuses();
  const [a, b] = ['a', 'b'].map((name) => {
    const bus = buses.open(name);
    const mirror = createMirror({ bus, clock, onFault, beatMs: 20, silentMs: 100 });
    const calls = createNodeCalls({ bus, mirror, onFault, unheardMs: 200 });
    onTestFinished(() => {
      calls.close();
      mirror.close();
    });
    return { mirror, calls };
  });
  if (a === undefined || b === undefined) throw new Error('two nodes');
  b.calls.answer('double', (body) => (body as number) * 2);
  return { buses, a, b };
}

const heard = (node: { mirror: { nodes(): string[] } }, name: string) =>
  expect.poll(() => node.mirror.nodes()).toEqual([name]);

test('a node that begins and was not heard yet is asked, and answers', async () => {
  const { a } = scene();
  expect(a.mirror.nodes()).toEqual([]);
  expect(await a.calls.ask('b', 'double', 21, LONG)).toBe(42);
});

test('[R9] a node that went before it was asked is given up, however long its answer might take', async () => {
  const { buses, a } = scene();
  await heard(a, 'b');
  buses.cut('b', true);
  await expect.poll(() => a.mirror.nodes()).toEqual([]);
  await expect(a.calls.ask('b', 'double', 1, LONG)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'the node is gone',
  });
});

test('[R9] whoever is cut off from all others, and knows it, asks nobody', async () => {
  const { buses, a } = scene();
  await heard(a, 'b');
  buses.shut('a', true);
  await expect(a.calls.ask('b', 'double', 1, LONG)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  buses.shut('a', false);
  expect(await a.calls.ask('b', 'double', 4, LONG)).toBe(8);
});
