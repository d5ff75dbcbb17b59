import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { percentile, timed } from '../harness/latency.ts';
import { residentMb } from '../harness/memory.ts';
import { openDescriptors, useHub } from '../harness/use-hub.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { answers, dial, type LiveClient, obey, registration } from './live-client.ts';
import { type Member, openSwarm } from './swarm.ts';

const THREADS = 100;
const POSTS_PER_SECOND = 100;
const { clients, seconds: SECONDS, ackMs: ACK_MS, grownMbAMinute: GROWN_MB_A_MINUTE } = sizeOf('C-LOAD-01');
/** As many as are asked for, or as the machine allows. */
const CLIENTS = Math.min(clients, openFiles() - 700);
const { seconds: IDLE_SECONDS, commandMs: COMMAND_MS } = sizeOf('C-WS-26');
const { connections: PASSING } = sizeOf('C-WS-25');
/** Far beyond what one of them may ask in a minute. */
const FLOOD = 300;

const scene = useHub({
  settings: { 'log.level': 'warn', 'quota.messages_per_minute': 1_000_000, 'quota.messages_burst': 100_000 },
});

let members: Member[] = [];
let threads: string[] = [];
let residentBefore = 0;

beforeAll(async () => {
  const poster = scene.as('poster', { role: 'orchestrator' });
  threads = await Promise.all(
    Array.from({ length: THREADS }, (_, t) =>
      poster.thread(
        ...Array.from({ length: Math.ceil(CLIENTS / THREADS) }, (_unused, i) => `member-${t + i * THREADS}`),
      ),
    ),
  );
  residentBefore = residentMb(scene.hub.pid);
  members = await openSwarm({
    url: () => scene.hub.url,
    count: CLIENTS,
    token: (agent) => scene.signer.token({ agent }),
    thread: (i) => threads[i % THREADS],
  });
}, 120_000);

afterAll(async () => {
  for (const member of members) member.close();
  await sleep(500);
});

test(
  '[C-WS-26] with thousands of idle connections each stays, costs little, and commands are quick',
  async () => {
    const each = ((residentMb(scene.hub.pid) - residentBefore) * 1_024) / CLIENTS;
    await sleep(IDLE_SECONDS * 1_000);
    const dashboard = await dial(scene.hub.url, 'dash', scene.as('dash', { role: 'operator' }).token);
    const agent = await dial(scene.hub.url, 'sis', scene.as('sis').token);
    await agent.hub('register_agent', registration);
    obey(agent);
    const delays: number[] = [];
    for (let i = 0; i < 40; i++)
      delays.push(await timed(() => dashboard.ask('command', 'sis', { command: 'run_task' })));
    measured(
      'C-WS-26',
      'connections, p95 of a command',
      `${CLIENTS}, ${Math.round(percentile(delays, 0.95))} ms`,
    );
    measured('C-WS-26', 'resident a connection', `${each.toFixed(1)} kB`);
    expect(percentile(delays, 0.95)).toBeLessThan(COMMAND_MS);
    // A follower costs more than an idle connection: its token, its place in a thread.
    expect(each).toBeLessThan(40);
    expect(members.flatMap(({ faults }) => faults)).toEqual([]);
    expect(members.filter(({ ws }) => ws?.readyState !== 1)).toEqual([]);
  },
  120_000 + IDLE_SECONDS * 1_000,
);

test(
  '[C-LOAD-01] thousands of followers, 100 posts a second: everything arrives exactly once, posts are acknowledged in time',
  async () => {
    const poster = scene.as('poster', { role: 'orchestrator' });
    const acks: number[] = [];
    const resident: { at: number; mb: number }[] = [];
    const look = (): void => {
      resident.push({ at: performance.now(), mb: residentMb(scene.hub.pid) });
    };
    const sent: Promise<void>[] = [];
    const count = POSTS_PER_SECOND * SECONDS;
    const startedAt = performance.now();
    for (let i = 0; i < count; i++) {
      const due = startedAt + (i * 1_000) / POSTS_PER_SECOND;
      if (due > performance.now()) await sleep(due - performance.now());
      const thread = threads[i % THREADS] ?? '';
      sent.push(timed(() => poster.say(thread, `load ${i}`)).then((ms) => void acks.push(ms)));
      if (i % (POSTS_PER_SECOND * 3) === 0) look();
    }
    await Promise.all(sent);
    const each = count / THREADS;
    await expect
      .poll(() => members.filter(({ last }) => last === each).length, { timeout: 60_000, interval: 100 })
      .toBe(CLIENTS);
    expect(members.flatMap(({ faults }) => faults)).toEqual([]);
    // The heap finds its size first: what counts is how it goes on.
    look();
    const [settled, last] = [resident[Math.floor(resident.length / 3)]!, resident.at(-1)!];
    const grown = (last.mb - settled.mb) / ((last.at - settled.at) / 60_000);
    measured('C-LOAD-01', 'clients, posts', `${CLIENTS}, ${count}`);
    measured('C-LOAD-01', 'p95 of the acknowledgement', `${Math.round(percentile(acks, 0.95))} ms`);
    measured('C-LOAD-01', 'memory, growth a minute', `${Math.round(last.mb)} MB, ${grown.toFixed(1)} MB`);
    expect(percentile(acks, 0.95)).toBeLessThan(ACK_MS);
    expect(grown).toBeLessThan(GROWN_MB_A_MINUTE);
  },
  120_000 + SECONDS * 2_000,
);

test('[C-WS-25] [R10] many connections that come and go, some mid-handshake, leave nothing behind', async () => {
  const { url, pid } = scene.hub;
  const { hostname, port, host } = new URL(url);
  const operator = await dial(url, 'op', scene.as('op', { role: 'operator' }).token);
  const connections = async (): Promise<number> =>
    (await operator.hub<{ connections: number }>('live_stats')).connections;
  const base = await connections();
  const descriptors = openDescriptors(pid);
  const half = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(text, () => socket.destroy());
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  const head = `GET /ws HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
  for (let i = 0; i < PASSING; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, async (_, k) => {
        const agent = `guest-${i + k}`;
        const token = scene.signer.token({ agent });
        if (k % 5 === 0) return half(head);
        if (k % 5 === 1) return half(`${head}authorization: Bearer ${token}\r\n\r\n`);
        const guest: LiveClient = await dial(url, agent, token, { lasting: true });
        if (k % 5 === 2) return guest.ws.terminate();
        if (k % 5 === 3) guest.say('command', 'parley', { command: 'list_threads' });
        await guest.close();
      }),
    );
  await expect.poll(connections, { timeout: 10_000, interval: 200 }).toBe(base);
  measured('C-WS-25', 'connections', `${PASSING}`);
  await expect.poll(() => openDescriptors(pid) - descriptors, { timeout: 5_000 }).toBeLessThan(8);
  expect(scene.hub.stderr()).not.toMatch(/warning/i);
});

test('[C-LOAD-02] far more than the hub takes: refused with a time to come back, others served, at ease at once', async () => {
  const { url } = scene.hub;
  const polite = await dial(url, 'polite', scene.as('polite').token);
  const flooders = await Promise.all(
    Array.from({ length: 10 }, (_, i) => dial(url, `flooder-${i}`, scene.as(`flooder-${i}`).token)),
  );
  const ids = flooders.map((client) =>
    Array.from({ length: FLOOD }, () =>
      client.say('command', 'parley', { command: 'list_threads', parameters: { limit: 1 } }),
    ),
  );
  await polite.hub('list_threads');
  for (const [i, client] of flooders.entries()) {
    const asked = ids[i] ?? [];
    await expect.poll(() => client.heard.length, { timeout: 10_000 }).toBe(asked.length);
    expect(asked.filter((id) => !client.heard.some((message) => answers(message, id)))).toEqual([]);
    const served = client.heard.filter(({ type }) => type === 'command_response').length;
    const refused = client.heard.filter(({ payload }) => payload.details?.reason === 'rate_limited');
    expect(served).toBeGreaterThanOrEqual(60);
    expect(served + refused.length).toBe(FLOOD);
    for (const { payload } of refused) expect(payload.details.retry_after_ms).toBeGreaterThan(0);
  }
  // A flooder has used up its minute; the hub is at ease for everybody else at once.
  await polite.hub('list_threads');
  await (await dial(url, 'late', scene.as('late').token)).hub('list_threads');
  expect(members.flatMap(({ faults }) => faults)).toEqual([]);
});

function openFiles(): number {
  const line = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  return Number(line?.[1] ?? 1_024);
}
