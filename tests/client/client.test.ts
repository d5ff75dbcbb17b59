import { type Client, createClient, isClientError } from '@parley/client';
import type { Message } from '@parley/protocol';
import { beforeAll, expect, test, vi } from 'vitest';

import { freshPath, issueToken, startHub, type TestHub } from '../cli/parley.ts';
import { openCuttingProxy } from './cutting-proxy.ts';

let hub: TestHub;
let alice: Client;
let aliceToken: string;
beforeAll(async () => {
  hub = await startHub();
  aliceToken = await issueToken(hub.data, 'alice');
  alice = createClient({ url: hub.url, token: aliceToken });
});

const say = (client: Client, thread_id: string, body: string) =>
  client.post_message({ thread_id, schema_version: 1, body });

async function readAll(client: Client, thread_id: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (;;) {
    const page = await client.read_messages({ thread_id, since_seq: messages.length, limit: 200 });
    messages.push(...page.messages);
    if (!page.has_more) return messages;
  }
}

test('a thread through the typed client', async () => {
  const bob = createClient({ url: hub.url, token: () => issueToken(hub.data, 'bob') });
  const { thread_id } = await alice.create_thread({ title: 'Hello', participants: ['bob'] });
  const waiting = bob.wait_for_messages({ thread_id, timeout_ms: 20_000 });
  const { message_id, seq } = await say(alice, thread_id, 'hello bob');
  expect((await waiting).messages.map(({ body }) => body)).toEqual(['hello bob']);
  await bob.ack_read({ thread_id, last_read_seq: seq });
  expect(await alice.get_message({ thread_id, message_id })).toMatchObject({
    read_by: [{ agent_id: 'bob' }],
    unread_by: [],
  });
  expect((await alice.list_threads()).threads.map((thread) => thread.thread_id)).toContain(thread_id);
});

test('the hub’s refusals arrive with code, details and the request id of its log', async () => {
  const error: unknown = await alice.get_thread({ thread_id: 'th_none' }).catch((thrown: unknown) => thrown);
  if (!isClientError(error)) throw error;
  expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  expect(error.request_id).toMatch(/^req_/);
  await expect(say(alice, 'th_none', '')).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { field: 'body' },
  });
});

test('[R7] [HUB-R5] answers that are lost on the way leave each message in the log once', async () => {
  let turn = 0;
  const proxy = await openCuttingProxy(hub.url, () => turn++ % 3 === 0);
  const client = createClient({ url: proxy.url, token: aliceToken });
  const { thread_id } = await alice.create_thread({ title: 'lossy' });
  const answers = [];
  for (let i = 1; i <= 20; i++) answers.push(await say(client, thread_id, `message ${i}`));
  const kept = await readAll(alice, thread_id);
  expect(kept.map(({ body }) => body)).toEqual(Array.from({ length: 20 }, (_, i) => `message ${i + 1}`));
  expect(answers.map(({ message_id }) => message_id)).toEqual(kept.map(({ message_id }) => message_id));
  expect(proxy.cuts).toBeGreaterThan(5);
  proxy.close();
});

test('[R6] [R2] follow brings every message once and in order over cut connections', async () => {
  let turn = 0;
  const proxy = await openCuttingProxy(hub.url, () => turn++ % 4 === 3);
  const client = createClient({ url: proxy.url, token: aliceToken });
  const { thread_id } = await alice.create_thread({ title: 'followed' });
  const total = 60;
  const seen: Message[] = [];
  const writing = (async () => {
    for (let i = 1; i <= total; i++) {
      await say(alice, thread_id, `message ${i}`);
      // Each message travels alone, so that the proxy has its turn at every one.
      await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(i), { timeout: 20_000, interval: 5 });
    }
  })();
  for await (const message of client.follow(thread_id)) {
    seen.push(message);
    if (seen.length === total) break;
  }
  await writing;
  expect(seen).toEqual(await readAll(alice, thread_id));
  expect(proxy.cuts).toBeGreaterThan(2);
  proxy.close();
});

test('[R9] followers and waiting calls do not hold a stopping hub, and go on with the next one', async () => {
  const data = freshPath();
  // Were one of them waited for, this stop would outlast the test.
  const first = await startHub(data, ['--set', 'http.shutdown_timeout_ms=600000']);
  const client = createClient({ url: first.url, token: await issueToken(data, 'carol') });
  const { thread_id } = await client.create_thread({ title: 'kept' });
  await say(client, thread_id, 'before');
  const stream = client.follow(thread_id);
  expect((await stream.next()).value?.body).toBe('before');
  const waiting = client.wait_for_messages({ thread_id, since_seq: 1, timeout_ms: 300_000 });
  const next = stream.next();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await first.stop();
  const second = await startHub(data, ['--port', new URL(first.url).port]);
  await say(client, thread_id, 'after');
  expect((await next).value).toMatchObject({ seq: 2, body: 'after' });
  // Answered by the first hub as it stopped, or asked again of the second.
  const { timed_out, messages } = await waiting;
  expect(messages.map(({ body }) => body)).toEqual(timed_out ? [] : ['after']);
  await stream.return();
  await second.stop();
});

test('follow survives a hub that is killed', async () => {
  const data = freshPath();
  let current = await startHub(data);
  const { port } = new URL(current.url);
  const token = await issueToken(data, 'dave');
  const client = createClient({ url: current.url, token });
  const { thread_id } = await client.create_thread({ title: 'killed' });
  const seen: number[] = [];
  const reading = (async () => {
    for await (const { seq } of client.follow(thread_id)) {
      seen.push(seq);
      if (seq === 6) return;
    }
  })();
  for (let round = 0; round < 3; round++) {
    await say(client, thread_id, 'one');
    await current.stop('SIGKILL');
    current = await startHub(data, ['--port', port]);
    await say(client, thread_id, 'two');
  }
  await reading;
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  await current.stop();
});
