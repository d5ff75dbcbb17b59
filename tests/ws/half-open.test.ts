import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { dial, type LiveClient, obey, registration } from './live-client.ts';
import { openSilencer } from './silencer.ts';

const PING_MS = 500;

const scene = useHub({
  settings: {
    'live.ping_ms': PING_MS,
    'live.command_timeout_ms': 10_000,
    'live.messages_per_minute': 10_000,
    'live.messages_burst': 10_000,
  },
});

const connectAs = (agent: string, role = 'worker', url = scene.hub.url): Promise<LiveClient> =>
  dial(url, agent, scene.as(agent, { role }).token);

test('[LIVE-13] [C-WS-21] a connection that goes silent is found, its agent is offline, and a reconnect goes on', async () => {
  const silencer = await openSilencer(scene.hub.url);
  onTestFinished(() => silencer.close());
  const dashboard = await connectAs('dash', 'operator');
  await dashboard.hub('follow_workspace');
  const agent = await connectAs('sis', 'worker', silencer.url);
  await agent.hub('register_agent', registration);
  expect(await dashboard.hub('live_stats')).toMatchObject({ connections: 2 });

  silencer.silence();
  const since = Date.now();
  const missed = dashboard.ask('command', 'sis', { command: 'run_task' });
  await dashboard.until(({ type, payload }) => type === 'status_update' && payload.status === 'offline');
  // Two periods, and what a busy machine may add.
  expect(Date.now() - since).toBeLessThan(2 * PING_MS + 1_500);
  expect(await dashboard.hub('live_stats')).toMatchObject({ connections: 1 });
  const refused = await dashboard.ask('command', 'sis', { command: 'run_task' });
  expect(refused.payload).toMatchObject({ code: 'AGENT_OFFLINE' });
  expect((await dashboard.ask('status_request', 'sis')).payload).toMatchObject({ status: 'offline' });

  const back = await connectAs('sis');
  const commands = obey(back);
  expect((await missed).payload).toMatchObject({ success: true });
  expect(commands).toHaveLength(1);
});

test('[C-DUR-23] stopped for longer than two ping periods and continued: no healthy connection is closed', async () => {
  const clients = await Promise.all(Array.from({ length: 50 }, (_, i) => connectAs(`client-${i}`)));
  const thread_id = await scene.as('client-0').thread(...clients.map(({ agent }) => agent));
  for (const client of clients) await client.hub('follow', { thread_id });
  await sleep(2 * PING_MS);
  const pings = clients.map(() => 0);
  clients.forEach((client, i) => client.ws.on('ping', () => pings[i]!++));
  process.kill(scene.hub.pid, 'SIGSTOP');
  const { stoppedMs } = sizeOf('C-DUR-23 /ws');
  await sleep(stoppedMs);
  process.kill(scene.hub.pid, 'SIGCONT');
  await scene.as('client-0').say(thread_id, 'after the pause');
  await sleep(4 * PING_MS);
  for (const client of clients) {
    expect(client.end()).toBeUndefined();
    expect(client.heard.filter(({ type }) => type === 'event')).toHaveLength(1);
  }
  // One ping for each period that was lived through, none for those that were slept through.
  measured('C-DUR-23 /ws', 'stopped, most pings after it', `${stoppedMs / 1_000} s, ${Math.max(...pings)}`);
  for (const count of pings) expect(count).toBeLessThanOrEqual(8);
}, 180_000);

test('[LIVE-13] a quiet but healthy connection stays', async () => {
  const client = await connectAs('quiet');
  await sleep(6 * PING_MS);
  expect(client.end()).toBeUndefined();
});
