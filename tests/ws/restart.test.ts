import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { type CrashHub, startHub, temporaryFolder, tokenFor } from '../faults/crash-hub.ts';
import { follow } from '../faults/event-stream.ts';
import { clientOf, createThread, post } from '../faults/hub-client.ts';
import { expectSoundRecord } from '../faults/oracle.ts';
import { registerSigner, type Signer } from '../harness/tokens.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { dial, registration } from './live-client.ts';
import { openSwarm } from './swarm.ts';

const SETTINGS = { 'log.level': 'warn', 'live.messages_per_minute': 100_000, 'live.messages_burst': 10_000 };

interface Crowd {
  folder: string;
  signer: Signer;
  hub: CrashHub;
}

async function begin(settings: Record<string, string | number> = {}): Promise<Crowd> {
  const folder = temporaryFolder();
  const hub = await startHub(folder, { settings: { ...SETTINGS, ...settings } });
  return { folder, hub, signer: await registerSigner('crowd', { data: folder }) };
}

test('[C-DUR-21] [R6] [BRIDGE-19] sockets and streams come through a restart without missing or repeating a message', async () => {
  const { sockets, streams: streamCount } = sizeOf('C-DUR-21');
  const crowd = await begin();
  const { folder, signer } = crowd;
  const writer = await tokenFor(folder, 'writer');
  const thread = await createThread(clientOf(crowd.hub.url, 'writer', writer));
  const members = await openSwarm({
    url: () => crowd.hub.url,
    count: sockets,
    token: (agent) => signer.token({ agent, role: 'orchestrator', workspace: 'w' }),
    thread: () => thread,
    faithful: true,
  });
  const streams = Array.from({ length: streamCount }, () => follow(() => crowd.hub.url, writer, thread));
  onTestFinished(() => [...members, ...streams].forEach((one) => one.close()));

  const bodies: string[] = [];
  const enough = new AbortController();
  const writing = (async () => {
    for (let i = 0; !enough.signal.aborted; i++) {
      for (;;) {
        const client = clientOf(crowd.hub.url, 'writer', writer);
        const answer = await post(client, thread, `message ${i}`, `k${i}`).catch(() => undefined);
        client.close();
        if (answer?.status === 200) break;
        await sleep(20);
      }
      bodies.push(`message ${i}`);
      await sleep(30);
    }
  })();
  while (bodies.length < 20) await sleep(10);
  await crowd.hub.end('SIGTERM');
  crowd.hub = await startHub(folder, { settings: SETTINGS });
  const wanted = bodies.length + 20;
  while (bodies.length < wanted) await sleep(10);
  enough.abort();
  await writing;
  await expect
    .poll(() => members.filter(({ last }) => last === bodies.length).length, { timeout: 30_000 })
    .toBe(members.length);
  expect(members.flatMap(({ faults }) => faults)).toEqual([]);
  expect(members.filter(({ opened }) => opened < 2)).toEqual([]);
  await expect
    .poll(() => streams.filter(({ messages }) => messages.length === bodies.length).length, {
      timeout: 20_000,
    })
    .toBe(streamCount);
  measured('C-DUR-21', 'sockets, streams, messages', `${sockets}, ${streamCount}, ${bodies.length}`);
}, 90_000);

test('[C-LOAD-04] very many clients come back at the same moment after a crash, and the hub bears it', async () => {
  const { clients } = sizeOf('C-LOAD-04');
  const followers = clients * 0.9;
  const crowd = await begin();
  const { folder, signer } = crowd;
  const writer = await tokenFor(folder, 'writer', { role: 'orchestrator' });
  const client = clientOf(crowd.hub.url, 'writer', writer);
  const threads = await Promise.all(
    [0, 1].map((half) =>
      createThread(
        client,
        Array.from({ length: followers / 2 }, (_, i) => `member-${half + 2 * i}`),
      ),
    ),
  );
  client.close();
  const members = await openSwarm({
    url: () => crowd.hub.url,
    count: clients,
    token: (agent) => signer.token({ agent, workspace: 'w' }),
    thread: (i) => (i < followers ? threads[i % 2] : undefined),
    faithful: true,
  });
  onTestFinished(() => members.forEach((member) => member.close()));
  await crowd.hub.end('SIGKILL');
  const ended = performance.now();
  crowd.hub = await startHub(folder, { settings: SETTINGS });
  await expect
    .poll(() => members.filter(({ opened, ws }) => opened >= 2 && ws?.readyState === 1).length, {
      timeout: 60_000,
    })
    .toBe(clients);
  measured('C-LOAD-04', 'clients, all back', `${clients}, ${Math.round(performance.now() - ended)} ms`);
  const back = clientOf(crowd.hub.url, 'writer', writer);
  for (const thread of threads) await post(back, thread, 'welcome back');
  back.close();
  const following = members.slice(0, followers);
  await expect
    .poll(() => following.filter(({ last }) => last === 1).length, { timeout: 30_000 })
    .toBe(following.length);
  expect(members.flatMap(({ faults }) => faults)).toEqual([]);
}, 120_000);

test('[C-DUR-22] SIGTERM: running commands finish, then every socket ends with 1001 and the hub with 0', async () => {
  const { folder, hub, signer } = await begin();
  const token = (agent: string, role = 'worker') => signer.token({ agent, role, workspace: 'w' });
  const dashboard = await dial(hub.url, 'dash', token('dash', 'operator'));
  const agent = await dial(hub.url, 'sis', token('sis'));
  await agent.hub('register_agent', registration);
  const idle = await openSwarm({
    url: () => hub.url,
    count: 50,
    token: (name) => token(name),
    thread: () => undefined,
  });
  agent.on(({ type, id }) => {
    if (type === 'command')
      setTimeout(
        () => agent.say('command_response', 'dash', { requestId: id, success: true, executionTime: 700 }),
        700,
      );
  });
  const running = dashboard.ask('command', 'sis', { command: 'run_task' });
  const waiting = dashboard.ask('command', 'parley', {
    command: 'wait_for_messages',
    parameters: {
      thread_id: (await dashboard.hub<{ thread_id: string }>('create_thread', { title: 't' })).thread_id,
    },
  });
  await agent.until(({ type }) => type === 'command');
  const toldAt = performance.now();
  const ending = hub.end('SIGTERM');
  expect((await running).payload.success).toBe(true);
  await waiting;
  expect((await dashboard.closed).code).toBe(1001);
  expect((await agent.closed).code).toBe(1001);
  expect(await ending).toMatchObject({ code: 0, signal: null });
  expect(performance.now() - toldAt).toBeLessThan(10_000);
  expect(idle.flatMap(({ faults }) => faults)).toEqual(Array(50).fill('closed with 1001'));
  expectSoundRecord(folder);
});

test('[C-DUR-22] an agent that never answers does not hold the hub', async () => {
  const { hub, signer } = await begin({ 'http.shutdown_timeout_ms': 3_000 });
  const token = (agent: string, role = 'worker') => signer.token({ agent, role, workspace: 'w' });
  const dashboard = await dial(hub.url, 'dash', token('dash', 'operator'));
  const agent = await dial(hub.url, 'sis', token('sis'));
  dashboard.say('command', 'sis', { command: 'run_task' });
  await agent.until(({ type }) => type === 'command');
  const toldAt = performance.now();
  expect(await hub.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(performance.now() - toldAt).toBeLessThan(6_000);
  expect((await agent.closed).code).toBe(1001);
});
