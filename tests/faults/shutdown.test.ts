import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { type CrashHub, startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { follow } from './event-stream.ts';
import { clientOf, createThread, type HubClient, ok, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';

test('[C-DUR-22] [R1] SIGTERM under load: who was being served gets an answer, streams end, and the hub ends well', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder);
  const agents = Array.from({ length: 16 }, (_, i) => `writer-${i}`);
  const tokens = await Promise.all(agents.map((agent) => tokenFor(folder, agent)));
  const clients = agents.map((agent, i) => clientOf(hub.url, agent, tokens[i]!));
  const thread = await createThread(clients[0]!, agents);
  const followers = tokens.slice(0, 4).map((token) => follow(() => hub.url, token, thread));
  onTestFinished(() => followers.forEach((follower) => follower.close()));
  const waiting = clients
    .slice(0, 4)
    .map((client) =>
      client.call('wait_for_messages', { thread_id: thread, since_seq: 1_000_000, timeout_ms: 300_000 }),
    );

  const acks: Ack[] = [];
  const brokenOff: string[] = [];
  let toldAt = Number.POSITIVE_INFINITY;
  async function write(client: HubClient): Promise<void> {
    for (let i = 0; ; i++) {
      const entry = { agent: client.agent, key: `k${i}`, body: `${client.agent} ${i}` };
      const sentAt = performance.now();
      try {
        const answer = await post(client, thread, entry.body, entry.key);
        if (answer.status !== 200) return;
        acks.push({ ...entry, ...answer.body });
      } catch (error) {
        if (sentAt < toldAt) brokenOff.push(`${client.agent} ${i}: ${String(error)}`);
        return;
      }
    }
  }
  const writing = Promise.all(clients.map(write));
  while (acks.length < 200) await sleep(5);
  toldAt = performance.now();
  const { code, signal, stderr } = await hub.end('SIGTERM');

  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(performance.now() - toldAt).toBeLessThan(10_000);
  await writing;
  expect(brokenOff).toEqual([]);
  for (const { status } of await Promise.all(waiting)) expect([200, 503]).toContain(status);
  expect(stderr).not.toMatch(/"level":"(error|fatal)"/);
  followers.forEach((follower) => follower.close());
  expectSoundRecord(folder);
  const revived = await startHub(folder);
  expectHonestLog(await readAll(clientOf(revived.url, agents[0]!, tokens[0]!), thread), acks);
});

/** A client that announces a body and sends half of it. */
async function sendHalf(hub: CrashHub, token: string): Promise<void> {
  const { hostname, port } = new URL(hub.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST /v1/list_threads HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n` +
      'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{',
  );
  await sleep(200);
}

test('[C-DUR-22] who does not finish in time is cut off, and the hub still ends well', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder, { settings: { 'http.shutdown_timeout_ms': 1_000 } });
  await sendHalf(hub, await tokenFor(folder, 'alice'));
  const toldAt = performance.now();
  expect(await hub.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(performance.now() - toldAt).toBeGreaterThan(900);
});

test('[C-DUR-22] a second SIGTERM ends at once', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder, { settings: { 'http.shutdown_timeout_ms': 60_000 } });
  await sendHalf(hub, await tokenFor(folder, 'alice'));
  hub.signal('SIGTERM');
  const stopped = hub.ended.then(() => 'ended');
  expect(await Promise.race([stopped, sleep(500, 'waits')])).toBe('waits');
  hub.signal('SIGTERM');
  const toldAgainAt = performance.now();
  expect(await Promise.race([stopped, sleep(5_000, 'waits')])).toBe('ended');
  const tookMs = performance.now() - toldAgainAt;
  measured('C-DUR-22', 'ended after', `${Math.round(tookMs)} ms`);
  expect(tookMs).toBeLessThan(sizeOf('C-DUR-22').endedMs);
  await startHub(folder);
});

test('[C-DUR-23] stopped for a while and continued: nobody healthy is dropped, nothing comes in a storm, sessions are judged anew', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder, { settings: { 'sessions.offline_after_ms': 3_000 } });
  const token = await tokenFor(folder, 'alice');
  const alice = clientOf(hub.url, 'alice', token);
  const thread = await createThread(alice);
  const followers = Array.from({ length: 5 }, () => follow(() => hub.url, token, thread));
  onTestFinished(() => followers.forEach((follower) => follower.close()));
  ok(await post(alice, thread, 'before'));
  const beat = { runtime: 'codex_cli', status: 'active', resumable: true, management_mode: 'managed' };
  const statuses = async (): Promise<string[]> =>
    ok(await alice.call<{ sessions: { status: string }[] }>('list_sessions', {})).sessions.map(
      ({ status }) => status,
    );
  ok(await alice.call('heartbeat_session', beat));
  expect(await statuses()).toEqual(['active']);
  await expect.poll(() => followers.map(({ messages }) => messages.length)).toEqual([1, 1, 1, 1, 1]);
  const heard = followers.map(({ bytes }) => bytes);

  hub.signal('SIGSTOP');
  const asked = Array.from({ length: 10 }, (_, i) => post(alice, thread, `meanwhile ${i}`, `k${i}`));
  const { stoppedMs } = sizeOf('C-DUR-23');
  await sleep(stoppedMs);
  hub.signal('SIGCONT');
  for (const answer of await Promise.all(asked)) ok(answer);
  expect(await statuses()).toEqual(['offline']);
  ok(await alice.call('heartbeat_session', beat));
  expect(await statuses()).toEqual(['active']);
  await expect.poll(() => followers.map(({ messages }) => messages.length)).toEqual(followers.map(() => 11));
  expect(followers.map(({ opened }) => opened)).toEqual([1, 1, 1, 1, 1]);
  // What came is the ten messages and at most one sign of life, not one for each tick that was slept through.
  const size = Buffer.byteLength(
    followers[0]!.messages
      .slice(1)
      .map((message) => `id: ${message.seq}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`)
      .join(''),
  );
  const more = followers.map(({ bytes }, i) => bytes - heard[i]! - size);
  measured(
    'C-DUR-23',
    'stopped, most bytes beside the messages',
    `${stoppedMs / 1_000} s, ${Math.max(...more)}`,
  );
  for (const bytes of more) expect(bytes).toBeLessThanOrEqual(20);
}, 180_000);
