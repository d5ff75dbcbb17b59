import { expect, test } from 'vitest';

import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, createThread, ok, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';

const CLIENTS = 200;
const POSTS = 10;

test('[C-LOAD-02] [R10] far more than it can take: refused with a time to come back, nothing lost, at ease again at once', async () => {
  const folder = temporaryFolder();
  // One write per fsync and a short queue: a small hub in a large crowd.
  const hub = await startHub(folder, { settings: { 'limits.batch': 1, 'limits.queue': 16 } });
  const agents = Array.from({ length: CLIENTS }, (_, i) => `writer-${i}`);
  const tokens = await Promise.all(agents.map((agent) => tokenFor(folder, agent)));
  const clients = agents.map((agent, i) => clientOf(hub.url, agent, tokens[i]!));
  const thread = await createThread(clients[0]!, agents);
  const acks: Ack[] = [];
  const refusals: { status: number; wait: number }[] = [];
  await Promise.all(
    clients.map(async (client) => {
      for (let i = 0; i < POSTS; i++) {
        const entry = { agent: client.agent, key: `k${i}`, body: `${client.agent} ${i}` };
        const answer = await post(client, thread, entry.body, entry.key);
        if (answer.status === 200) acks.push({ ...entry, ...answer.body });
        else refusals.push({ status: answer.status, wait: Number(answer.headers['retry-after']) });
      }
    }),
  );
  expect(acks.length + refusals.length).toBe(CLIENTS * POSTS);
  expect(acks.length).toBeGreaterThan(0);
  expect(refusals.length).toBeGreaterThan(0);
  expect(refusals.filter(({ status, wait }) => ![429, 503].includes(status) || !(wait >= 1))).toEqual([]);

  for (let i = 0; i < 20; i++) {
    const entry = { agent: agents[0]!, key: `after ${i}`, body: `after ${i}` };
    acks.push({ ...entry, ...ok(await post(clients[0]!, thread, entry.body, entry.key)) });
  }
  const log = await readAll(clients[0]!, thread);
  expectHonestLog(log, acks);
  expect(log).toHaveLength(acks.length);
  for (const client of clients) client.close();
  await hub.end('SIGTERM');
  expectSoundRecord(folder);
});
