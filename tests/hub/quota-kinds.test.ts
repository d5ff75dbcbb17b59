import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { openStream } from '../harness/open-stream.ts';
import { send } from '../harness/send.ts';
import { type Participant, refused, succeeded, useHub } from '../harness/use-hub.ts';

const BURST = { messages: 5, writes: 8, searches: 3, open: 6 };
const scene = useHub({
  settings: {
    'quota.messages_per_minute': 1,
    'quota.messages_burst': BURST.messages,
    'quota.writes_per_minute': 1,
    'quota.writes_burst': BURST.writes,
    'quota.searches_per_minute': 1,
    'quota.searches_burst': BURST.searches,
    'quota.open': BURST.open,
    'mcp.profile': 'full',
  },
});

/** How often a call is let in before it is refused for its quota. */
async function grantedOf(who: Participant, operation: 'ack_read' | 'search_messages', input: object) {
  for (let granted = 0; granted < 20; granted++) {
    const answer = await who.call(operation, input);
    if (answer.error?.code !== 'RATE_LIMITED') {
      succeeded(answer);
      continue;
    }
    const ms = Number(answer.error.details['retry_after_ms']);
    expect(ms).toBeGreaterThan(1_000);
    expect(ms).toBeLessThanOrEqual(60_000);
    if (answer.status === 429) expect(answer.headers['retry-after']).toBe(String(Math.ceil(ms / 1_000)));
    return granted;
  }
  return Infinity;
}

test.each(faces)(
  'over $name changes and searches have quotas of their own; none takes from another, nor from anybody else',
  async (face) => {
    const name = `eager-${face.name.replaceAll(/\W/g, '')}`;
    const boss = scene.as(`boss-${name}`);
    const thread_id = await boss.thread(name, 'bob');
    const eager = scene.as(name, { face });
    // What is no valid call, or not for this role, is counted as nothing.
    for (let i = 0; i < 20; i++) {
      refused(await eager.call('ack_read', { thread_id }), 'VALIDATION_ERROR', face);
      refused(await eager.call('search_messages', { query: '' }), 'VALIDATION_ERROR', face);
    }
    const observer = scene.as(name, { face, role: 'observer' });
    refused(await observer.call('create_thread', { title: 'x' }), 'FORBIDDEN', face);
    expect(await grantedOf(eager, 'search_messages', { query: 'word' })).toBe(BURST.searches);
    expect(await grantedOf(eager, 'ack_read', { thread_id, last_read_seq: 0 })).toBe(BURST.writes);
    for (let i = 0; i < 20; i++)
      refused(await eager.call('create_thread', { title: 'x' }), 'RATE_LIMITED', face);
    for (let i = 0; i < BURST.messages; i++) await eager.say(thread_id, `${i}`);
    await eager.refused('post_message', { thread_id, schema_version: 1, body: 'x' }, 'RATE_LIMITED');
    // Looking is free, and what is free stays so.
    for (let i = 0; i < 20; i++) await eager.ok('read_messages', { thread_id });
    const namesake = scene.as(name, { face, workspace: 'w2' });
    await namesake.ok('search_messages', { query: 'word' });
    await namesake.ok('create_thread', { title: 'x' });
    const bob = scene.as(`bob-${name}`, { face });
    await bob.ok('search_messages', { query: 'word' });
    await bob.ok('create_thread', { title: 'x' });
  },
);

test('who keeps much open at once, calls or streams, is told to end some; others go on', async () => {
  const hog = scene.as('hog');
  const bob = scene.as('bob');
  const thread_id = await hog.thread('bob');
  const ending = new AbortController();
  const wait = { thread_id, since_seq: 1, timeout_ms: 30_000 };
  const waits = Array.from({ length: BURST.open - 2 }, () =>
    hog.call('wait_for_messages', wait, { signal: ending.signal }).catch(() => undefined),
  );
  const streams = [
    await openStream(scene.hub.url, hog.token, thread_id),
    await openStream(scene.hub.url, hog.token, thread_id),
  ];
  await expect
    .poll(async () => (await hog.call('get_thread', { thread_id })).error?.code, { timeout: 20_000 })
    .toBe('RATE_LIMITED');
  const { details } = await hog.refused('get_thread', { thread_id }, 'RATE_LIMITED');
  expect(details['retry_after_ms']).toBe(1_000);
  expect((await openStream(scene.hub.url, hog.token, thread_id)).status).toBe(429);
  const headers = { authorization: `Bearer ${hog.token}`, accept: 'text/event-stream' };
  expect((await send(`${scene.hub.url}/v1/live/messages`, { headers })).status).toBe(429);
  await bob.ok('get_thread', { thread_id });
  const theirs = await openStream(scene.hub.url, bob.token, thread_id);
  expect(theirs.status).toBe(200);
  // What ends gives its place back.
  for (const stream of [...streams, theirs]) stream.close();
  ending.abort();
  await Promise.all(waits);
  await expect
    .poll(async () => (await hog.call('get_thread', { thread_id })).error, { timeout: 20_000 })
    .toBeUndefined();
  for (let i = 0; i < 3 * BURST.open; i++) await hog.ok('get_thread', { thread_id });
});
