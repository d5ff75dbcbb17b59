import { expect, test, vi } from 'vitest';

import { useHub } from '../harness/use-hub.ts';

const scene = useHub({ settings: { 'quota.messages_burst': 100_000 } });

const AS = 'a '.repeat(499);
const MESSAGES = 300;

test('a search for 1 kB of one word in messages full of it is answered soon, and nobody else waits for it', async () => {
  const [ann, bob] = [scene.as('ann'), scene.as('bob')];
  const thread_id = await ann.thread('bob');
  await Promise.all(Array.from({ length: MESSAGES }, () => ann.say(thread_id, AS)));
  await vi.waitFor(async () => {
    const { missing } = await ann.ok('search_messages', { query: 'a', limit: 1 });
    expect(missing).not.toContain('changes');
  }, 20_000);
  const started = performance.now();
  const searches = Promise.all(
    Array.from({ length: 8 }, () => ann.ok('search_messages', { query: AS, limit: 5 })),
  );
  const slowest = { ms: 0 };
  for (let i = 0; i < 10; i++) {
    const asked = performance.now();
    await bob.ok('read_messages', { thread_id, since_seq: MESSAGES - 1 });
    slowest.ms = Math.max(slowest.ms, performance.now() - asked);
  }
  for (const { hits, complete, missing } of await searches) {
    expect(hits).toHaveLength(5);
    expect({ complete, missing }).toEqual({ complete: false, missing: ['older_matches'] });
  }
  // Before, one of these took 22 s of the thread that serves all reads.
  expect(slowest.ms).toBeLessThan(1_000);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('what a search leaves out is named', async () => {
  const ann = scene.as('ann', { workspace: 'words' });
  await ann.say(await ann.thread(), 'one message of few words');
  const many = Array.from({ length: 30 }, (_, i) => `word${i}`).join(' ');
  await vi.waitFor(async () => {
    expect(await ann.ok('search_messages', { query: many })).toEqual({
      hits: [],
      complete: true,
      missing: ['words'],
    });
    expect(await ann.ok('search_messages', { query: 'few few words' })).toMatchObject({
      hits: [{ message: { body: 'one message of few words' } }],
      complete: true,
      missing: [],
    });
  }, 20_000);
});
