import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, createThread, type HubClient, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';

/** One write per fsync and a short queue: a small hub. */
const QUEUE = 16;
const SETTINGS = {
  'limits.batch': 1,
  'limits.queue': QUEUE,
  'quota.messages_per_minute': 10_000_000,
  'quota.messages_burst': 10_000_000,
};
/** As many as the hub is made for: all of them find a place in its queue. */
const CAPACITY = QUEUE;
const CROWD = 10 * CAPACITY;

interface Refusal {
  status: number;
  wait: number;
}

test('[C-LOAD-02] [R10] ten times as many as it can take: refused with a time to come back, as much done as before, nothing lost, at ease again at once', async () => {
  const { seconds, goodput } = sizeOf('C-LOAD-02');
  const folder = temporaryFolder();
  const hub = await startHub(folder, { settings: SETTINGS });
  const agents = Array.from({ length: CROWD }, (_, i) => `writer-${i}`);
  const tokens = await Promise.all(agents.map((agent) => tokenFor(folder, agent)));
  const clients = agents.map((agent, i) => clientOf(hub.url, agent, tokens[i]!));
  const thread = await createThread(clients[0]!, agents);
  const acks: Ack[] = [];
  const refusals: Refusal[] = [];
  let posts = 0;

  /** One post; says whether it was taken. */
  async function say(client: HubClient): Promise<boolean> {
    const entry = { agent: client.agent, key: `k${posts++}`, body: `${client.agent} ${posts}` };
    const answer = await post(client, thread, entry.body, entry.key);
    if (answer.status === 200) acks.push({ ...entry, ...answer.body });
    else refusals.push({ status: answer.status, wait: Number(answer.headers['retry-after']) });
    return answer.status === 200;
  }

  /** Everybody posts without a pause for a while; says how many were taken a second. */
  async function rush(crowd: readonly HubClient[]): Promise<number> {
    const before = acks.length;
    const until = performance.now() + seconds * 1_000;
    await Promise.all(
      crowd.map(async (client) => {
        // Who is refused comes again before it is asked to, as a rude crowd does, but not in a loop without a breath.
        while (performance.now() < until) if (!(await say(client))) await sleep(10);
      }),
    );
    return (acks.length - before) / seconds;
  }

  const usual = clients.slice(0, CAPACITY);
  // The first posts compile the hub's code.
  for (const client of usual) await say(client);
  const peak = await rush(usual);
  const refusedBefore = refusals.length;
  const under = await rush(clients);
  measured(
    'C-LOAD-02',
    'peak, under ten times as many',
    `${Math.round(peak)}/s, ${Math.round(under)}/s (${((100 * under) / peak).toFixed(0)} %)`,
  );
  measured('C-LOAD-02', 'refused', String(refusals.length - refusedBefore));
  expect(under).toBeGreaterThan(peak * goodput);
  expect(refusals.length).toBeGreaterThan(refusedBefore);
  expect(refusals.filter(({ status, wait }) => ![429, 503].includes(status) || !(wait >= 1))).toEqual([]);

  const endedAt = performance.now();
  for (let taken = 0; taken < 20;) taken = (await say(clients[0]!)) ? taken + 1 : 0;
  const easeMs = performance.now() - endedAt;
  measured('C-LOAD-02', 'twenty posts in a row after', `${Math.round(easeMs)} ms`);
  expect(easeMs).toBeLessThan(10_000);
  const log = await readAll(clients[0]!, thread);
  expectHonestLog(log, acks);
  expect(log).toHaveLength(acks.length);
  for (const client of clients) client.close();
  await hub.end('SIGTERM');
  expectSoundRecord(folder);
}, 300_000);
