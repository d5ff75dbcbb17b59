import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { readMetrics, sumOf } from '../metrics/read-metrics.ts';

const scene = useHub({
  keysMayRepeat: true,
  settings: {
    'idempotency.window_ms': 1_000,
    'quota.messages_burst': 100_000,
    'quota.messages_per_minute': 100_000,
  },
});

/** Lets somebody call again and again, so that the hub never has a quiet moment, until the test is over. */
function neverQuiet(call: () => Promise<unknown>): void {
  const end = new AbortController();
  const busy = (async () => {
    while (!end.signal.aborted) {
      await call();
      await sleep(30);
    }
  })();
  onTestFinished(async () => {
    end.abort();
    await busy;
  });
}

async function lag(ann: Participant): Promise<{ reported: number; scraped: number }> {
  const { search } = await ann.ok('describe_hub', {});
  const headers = { authorization: `Bearer ${ann.token}` };
  const text = await (await fetch(`${scene.hub.url}/metrics`, { headers })).text();
  return { reported: search.lag_ms, scraped: 1_000 * sumOf(readMetrics(text), 'parley_search_lag_seconds') };
}

const WAYS: [string, (alice: Participant, thread_id: string) => Promise<unknown>][] = [
  ['posts', (alice, thread_id) => alice.say(thread_id, `noise ${randomUUID()}`)],
  ['heartbeats', (alice) => alice.ok('heartbeat_session', { runtime: 'codex_cli' })],
];

test.each(WAYS)('a word is found within 2 s while %s come all the time', async (_name, disturb) => {
  const [alice, ann] = [scene.as('alice'), scene.as('ann', { role: 'operator', workspace: 'default' })];
  const thread_id = await alice.thread();
  neverQuiet(() => disturb(alice, thread_id));
  await sleep(300);
  for (let round = 0; round < 3; round++) {
    const word = `needle${randomUUID().replaceAll('-', '')}`;
    await alice.say(thread_id, `here is a ${word} to be found`);
    const find = async () => (await alice.ok('search_messages', { query: word })).hits.length;
    await expect.poll(find, { timeout: 2_000, interval: 100 }).toBe(1);
    const { reported, scraped } = await lag(ann);
    expect(Math.max(reported, scraped)).toBeLessThan(2_000);
  }
});

test('keys that no longer bind are forgotten while somebody writes all the time', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const keyed = (i: number) => alice.say(thread_id, `${i}`, { idempotency_key: `key ${i}` });
  await Promise.all(Array.from({ length: 400 }, (_, i) => keyed(i)));
  // Each was kept for its time: asked at once, the same key has the same answer.
  expect(await keyed(400)).toEqual(await keyed(400));
  neverQuiet(() => alice.say(thread_id, 'noise', { idempotency_key: randomUUID() }));
  // Counting holds the noise up, so it is done once.
  await sleep(4_000);
  expect((await scene.counts()).idempotency_keys).toBeLessThan(200);
});

test('parley status tells how far the search is', async () => {
  const { hub } = scene;
  const status = await runJson<{ search: { behind: number; lag_ms: number } }>(['status'], {
    data: hub.data,
  });
  expect(status.search).toEqual({ behind: expect.any(Number), lag_ms: expect.any(Number) });
});
