import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const WINDOW_MS = 2_000;
const scene = useHub({ keysMayRepeat: true, settings: { 'idempotency.window_ms': WINDOW_MS } });

test('[HUB-R7] a key binds for the configured window and no longer', async () => {
  const made: [Participant, string][] = [];
  let last = 0;
  for (const face of faces) {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const first = await alice.say(thread_id, 'x', { idempotency_key: 'k' });
    expect(await alice.say(thread_id, 'x', { idempotency_key: 'k' })).toEqual(first);
    last = Date.parse(first.created_at);
    made.push([alice, thread_id]);
  }
  await new Promise((resolve) => setTimeout(resolve, last + WINDOW_MS + 200 - Date.now()));
  for (const [alice, thread_id] of made) {
    const second = await alice.say(thread_id, 'another', { idempotency_key: 'k' });
    expect(second.seq).toBe(2);
    expect(await alice.say(thread_id, 'another', { idempotency_key: 'k' })).toEqual(second);
  }
});
