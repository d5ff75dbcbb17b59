import { expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { dial, type LiveClient } from './live-client.ts';

const STUCK_MS = 2_000;

const scene = useHub({
  settings: {
    'live.ping_ms': 4_000,
    'live.stuck_ms': STUCK_MS,
    'live.send_buffer_bytes': 65_536,
    'live.messages_per_minute': 10_000,
    'live.messages_burst': 10_000,
    'quota.messages_per_minute': 1_000_000,
    'quota.messages_burst': 100_000,
  },
});

const connectAs = (agent: string, role = 'worker'): Promise<LiveClient> =>
  dial(scene.hub.url, agent, scene.as(agent, { role }).token);

test('[LIVE-14] [BRIDGE-19] whoever reads nothing at all is ended, and can come back to where it was', async () => {
  const watcher = await connectAs('watcher', 'operator');
  const connections = async (): Promise<number> =>
    (await watcher.hub<{ connections: number }>('live_stats')).connections;
  const alice = scene.as('alice');
  const thread_id = await alice.thread('stuck');
  const stuck = await connectAs('stuck');
  await stuck.hub('follow', { thread_id });
  const base = await connections();
  stuck.ws.pause();
  const since = Date.now();
  const body = 'x'.repeat(32_000);
  let posted = 0;
  // More than all the buffers of the kernel on the way can hold, before the first ping.
  for (; posted < 400; posted += 20)
    await Promise.all(Array.from({ length: 20 }, () => alice.say(thread_id, body)));
  await expect.poll(connections, { timeout: 20_000, interval: 100 }).toBe(base - 1);
  expect(Date.now() - since).toBeGreaterThan(STUCK_MS);
  stuck.ws.resume();
  expect([1006, 1013]).toContain((await stuck.closed).code);
  const seqs = (client: LiveClient): number[] =>
    client.heard.filter(({ type }) => type === 'event').map(({ payload }) => payload.data.seq as number);
  const back = await connectAs('stuck');
  await back.hub('follow', { thread_id, since_seq: seqs(stuck).at(-1) ?? 0 });
  await expect.poll(() => seqs(back).at(-1), { timeout: 20_000 }).toBe(posted);
  expect([...seqs(stuck), ...seqs(back)]).toEqual(Array.from({ length: posted }, (_, i) => i + 1));
});
