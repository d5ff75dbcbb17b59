import { expect, onTestFinished, test } from 'vitest';

import { createMirror } from './mirror.ts';
import { createSampleBuses } from './sample-buses.ts';

const clock = { monotonic: () => performance.now() };
const onFault = (error: unknown): void => {
  throw error;
};

function mirrorOf(buses: ReturnType<typeof createSampleBuses>, name: string, silentMs = 100) {
  return createMirror({ bus: buses.open(name), clock, onFault, beatMs: 20, silentMs });
}

/** A node that tells of a set of words, and what it knows of the words of others. */
function nodeOf(buses: ReturnType<typeof createSampleBuses>, name: string, mirror = mirrorOf(buses, name)) {
  const own = new Set<string>([`word of ${name}`]);
  const known = new Map<string, Set<string>>();
  mirror.add('words', {
    snapshot: () => [...own],
    apply: (node, word) => void known.set(node, (known.get(node) ?? new Set()).add(word as string)),
    forget: (node) => void known.delete(node),
  });
  onTestFinished(() => mirror.close());
  return {
    mirror,
    own,
    say(word: string) {
      own.add(word);
      mirror.tell('words', word);
    },
    of: (node: string) => [...(known.get(node) ?? [])].toSorted(),
  };
}

test('what a node tells the others know, also those that come later', async () => {
  const buses = createSampleBuses();
  const [a, b] = [nodeOf(buses, 'a'), nodeOf(buses, 'b')];
  a.say('one');
  await expect.poll(() => b.of('a')).toEqual(['one', 'word of a']);
  a.say('two');
  await expect.poll(() => b.of('a')).toEqual(['one', 'two', 'word of a']);
  const c = nodeOf(buses, 'c');
  await expect.poll(() => c.of('a')).toEqual(['one', 'two', 'word of a']);
});

test('who waits until it is settled knows that all others have heard it; one that is gone is not waited for', async () => {
  const buses = createSampleBuses();
  const [a, b, c] = [nodeOf(buses, 'a'), nodeOf(buses, 'b'), nodeOf(buses, 'c')];
  await expect.poll(() => [b.of('a'), c.of('a')]).toEqual([['word of a'], ['word of a']]);
  a.say('one');
  expect(b.of('a')).toEqual(['word of a']);
  await a.mirror.settled();
  expect([b.of('a'), c.of('a')]).toEqual([
    ['one', 'word of a'],
    ['one', 'word of a'],
  ]);
  buses.cut('c', true);
  a.say('two');
  const began = performance.now();
  await a.mirror.settled();
  expect(b.of('a')).toContain('two');
  expect(performance.now() - began).toBeGreaterThan(50);
  await expect.poll(() => a.mirror.nodes()).toEqual(['b']);
  await a.mirror.settled();
});

test('a message that is lost is made up for, the last one too', async () => {
  const buses = createSampleBuses();
  const [a, b] = [nodeOf(buses, 'a'), nodeOf(buses, 'b')];
  a.say('one');
  await expect.poll(() => b.of('a')).toEqual(['one', 'word of a']);
  buses.lose(1);
  a.say('lost');
  await expect.poll(() => b.of('a')).toEqual(['lost', 'one', 'word of a']);
});

test('a node that falls silent is forgotten, and known again when it is back', async () => {
  const buses = createSampleBuses();
  const [a, b] = [nodeOf(buses, 'a'), nodeOf(buses, 'b')];
  a.say('one');
  await expect.poll(() => b.of('a')).toEqual(['one', 'word of a']);
  const gone: string[] = [];
  b.mirror.onGone((node) => gone.push(node));
  buses.cut('a', true);
  await expect.poll(() => gone).toEqual(['a']);
  expect(b.of('a')).toEqual([]);
  expect(b.mirror.nodes()).toEqual([]);
  a.say('two');
  buses.cut('a', false);
  await expect.poll(() => b.of('a')).toEqual(['one', 'two', 'word of a']);
});

test('what is mirrored only after the nodes know each other is known to both', async () => {
  const buses = createSampleBuses();
  // A node that falls silent is asked anew when it is back: none does here.
  const [early, late] = [mirrorOf(buses, 'a', 600_000), mirrorOf(buses, 'b', 600_000)];
  await expect.poll(() => [...early.nodes(), ...late.nodes()]).toEqual(['b', 'a']);
  // Time for each to have heard the whole state of the other.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const a = nodeOf(buses, 'a', early);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const b = nodeOf(buses, 'b', late);
  await expect.poll(() => a.of('b')).toEqual(['word of b']);
  await expect.poll(() => b.of('a')).toEqual(['word of a']);
});
