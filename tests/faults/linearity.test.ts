import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { type CrashHub, startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { expectLinearizable, type Appended, type Seen } from './history.ts';
import { clientOf, createThread, type HubClient, ok, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';

const WRITERS = 100;
const POSTS = 100;
/** Each writer retries one in so many of its posts. */
const RETRIED = 10;

test('[C-HUB-13] [R2] [R3] [R4] [HUB-E3] 100 writers with 100 posts each make one linear log, and their retries after a kill change nothing', async () => {
  const folder = temporaryFolder();
  const agents = Array.from({ length: WRITERS }, (_, i) => `writer-${i}`);
  const hub = await startHub(folder);
  const tokens = await Promise.all([...agents, 'reader'].map((agent) => tokenFor(folder, agent)));
  const connectAll = (to: CrashHub): HubClient[] =>
    [...agents, 'reader'].map((agent, i) => clientOf(to.url, agent, tokens[i]!));
  const clients = connectAll(hub);
  const reader = clients.at(-1)!;
  const thread = await createThread(clients[0]!, [...agents, 'reader']);

  const acks: Ack[] = [];
  const appends: Appended[] = [];
  const reads: Seen[] = [];
  const written = new AbortController();
  const watching = (async () => {
    while (!written.signal.aborted) {
      const from = performance.now();
      const { last_seq } = ok(await reader.call<{ last_seq: number }>('get_thread', { thread_id: thread }));
      reads.push({ from, to: performance.now(), last: last_seq });
      await sleep(2);
    }
  })();
  await Promise.all(
    clients.slice(0, WRITERS).map(async (client) => {
      for (let i = 0; i < POSTS; i++) {
        const entry = { agent: client.agent, key: `k${i}`, body: `${client.agent} ${i}` };
        const from = performance.now();
        const result = ok(await post(client, thread, entry.body, entry.key));
        appends.push({ from, to: performance.now(), seq: result.seq });
        acks.push({ ...entry, ...result });
      }
    }),
  );
  written.abort();
  await watching;
  for (const client of clients) client.close();
  await hub.end('SIGKILL');

  expectLinearizable(appends, reads);
  const revived = await startHub(folder);
  const again = connectAll(revived);
  const log = await readAll(again[0]!, thread);
  expect(log).toHaveLength(WRITERS * POSTS);
  expectHonestLog(log, acks);
  for (const agent of agents) {
    const bodies = log.filter(({ sender_agent_id }) => sender_agent_id === agent).map(({ body }) => body);
    expect(bodies).toEqual(Array.from({ length: POSTS }, (_, i) => `${agent} ${i}`));
  }

  const first = new Map(acks.map(({ agent, key, message_id }) => [`${agent} ${key}`, message_id]));
  const differing: unknown[] = [];
  await Promise.all(
    again.slice(0, WRITERS).map(async (client) => {
      for (let i = 0; i < POSTS; i += RETRIED) {
        const { message_id } = ok(await post(client, thread, `${client.agent} ${i}`, `k${i}`));
        if (message_id !== first.get(`${client.agent} k${i}`)) differing.push(message_id);
      }
    }),
  );
  expect(differing).toEqual([]);
  expect(await readAll(again[0]!, thread)).toEqual(log);
  for (const client of again) client.close();
  await revived.end('SIGTERM');
  expectSoundRecord(folder);
}, 120_000);
