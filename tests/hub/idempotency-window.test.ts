import { expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';

const WINDOW_MS = 2_000;
const scene = useHub({ keysMayRepeat: true, settings: { 'idempotency.window_ms': WINDOW_MS } });

test('[HUB-R7] a key binds for the configured window and no longer', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const first = await alice.say(thread_id, 'x', { idempotency_key: 'k' });
  const made = Date.parse(first.created_at);
  expect(await alice.say(thread_id, 'x', { idempotency_key: 'k' })).toEqual(first);
  await new Promise((resolve) => setTimeout(resolve, made + WINDOW_MS + 200 - Date.now()));
  const second = await alice.say(thread_id, 'another', { idempotency_key: 'k' });
  expect(second.seq).toBe(2);
  expect(await alice.say(thread_id, 'another', { idempotency_key: 'k' })).toEqual(second);
});
