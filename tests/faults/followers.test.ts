import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { type CrashHub, startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { follow } from './event-stream.ts';
import { clientOf, createThread, post } from './hub-client.ts';

const FOLLOWERS = 100;

test('[C-DUR-21] [R6] 100 followers of a thread come through a stop and a kill without missing or repeating a message', async () => {
  const folder = temporaryFolder();
  let hub: CrashHub = await startHub(folder);
  const token = await tokenFor(folder, 'alice');
  const thread = await createThread(clientOf(hub.url, 'alice', token));
  const followers = Array.from({ length: FOLLOWERS }, () => follow(() => hub.url, token, thread));
  onTestFinished(() => followers.forEach((follower) => follower.close()));

  const enough = new AbortController();
  const bodies: string[] = [];
  const writing = (async () => {
    for (let i = 0; !enough.signal.aborted; i++) {
      while (true) {
        const client = clientOf(hub.url, 'alice', token);
        const answer = await post(client, thread, `message ${i}`, `k${i}`).catch(() => undefined);
        client.close();
        if (answer?.status === 200) break;
        await sleep(10);
      }
      bodies.push(`message ${i}`);
      await sleep(5);
    }
  })();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const wanted = bodies.length + 30;
    while (bodies.length < wanted) await sleep(10);
    await hub.end(signal);
    hub = await startHub(folder);
  }
  const wanted = bodies.length + 30;
  while (bodies.length < wanted) await sleep(10);
  enough.abort();
  await writing;

  await expect
    .poll(() => followers.filter(({ messages }) => messages.length >= bodies.length).length, {
      timeout: 20_000,
    })
    .toBe(FOLLOWERS);
  for (const { messages, opened } of followers) {
    expect(messages.map(({ body }) => body)).toEqual(bodies);
    expect(messages.map(({ seq }) => seq)).toEqual(bodies.map((_, i) => i + 1));
    expect(opened).toBeGreaterThanOrEqual(3);
  }
});
