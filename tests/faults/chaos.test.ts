import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { describeTracing, mountSmallDisk } from './as-root.ts';
import { type CrashHub, startHub, tokenFor } from './crash-hub.ts';
import { follow } from './event-stream.ts';
import { fakeClock } from '../harness/fake-clock.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { FAULTS, seeded, type World } from './faults-at-random.ts';
import { clientOf, createThread, health, type HubClient, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';

/** How long the faults go on, each kind at least once, and the writers rest after each post; `CHAOS_SEED` is another schedule. */
const { seconds: SECONDS, pace, restMs } = sizeOf('chaos');
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);

const SETTINGS = {
  'quota.messages_per_minute': 10_000_000,
  'quota.messages_burst': 10_000_000,
  // The token outlives every step of the clock, so that writers go on through them.
  'auth.max_lifetime_ms': 80 * 86_400_000,
};
const AGENTS = Array.from({ length: 8 }, (_, i) => `writer-${i}`);

/** A text that shows by itself whether it was damaged. */
function sealed(text: string): string {
  return `${text} ${createHash('sha256').update(text).digest('hex')}`;
}

function isWhole(body: string): boolean {
  return sealed(body.slice(0, body.lastIndexOf(' '))) === body;
}

describeTracing(['strace', 'libfaketime'], 'a hostile machine', ({ strace, libfaketime }) => {
  test(
    '[R1] [R2] [R3] [R8] [R9] [R11] kills, stops, full disks, clock steps, foreign locks and failing checkpoints: nothing acknowledged is lost, doubled, replayed or served damaged',
    async () => {
      const folder = join(mountSmallDisk(256 * 1024 * 1024), 'data');
      const clock = fakeClock(libfaketime);
      const start = (): Promise<CrashHub> => startHub(folder, { settings: SETTINGS, env: clock.env });
      let hub = await start();
      let restarted = Promise.resolve();
      const restartTimes: number[] = [];
      const restart = (signal: NodeJS.Signals): Promise<void> => {
        restarted = (async () => {
          await hub.end(signal);
          hub = await start();
          restartTimes.push(hub.startedInMs);
        })();
        return restarted;
      };
      const tokens = await Promise.all(
        AGENTS.map((agent) =>
          tokenFor(folder, agent, {
            now: Date.now() - 3 * 3_600_000,
            ttlMs: 79 * 86_400_000,
            settings: SETTINGS,
          }),
        ),
      );
      const first = clientOf(hub.url, AGENTS[0]!, tokens[0]!);
      const threads = await Promise.all(Array.from({ length: 4 }, () => createThread(first, AGENTS)));
      const acksByThread = new Map<string, Ack[]>(threads.map((thread) => [thread, []]));
      const unexpected: unknown[] = [];
      const count = {
        posts: 0,
        refused: 0,
        unknown: 0,
        repeated: 0,
        pages: 0,
        faults: {} as Record<string, number>,
      };
      const enough = new AbortController();
      const followers = threads.map((thread) => follow(() => hub.url, tokens[0]!, thread));
      onTestFinished(() => followers.forEach((follower) => follower.close()));

      /** Sends until there is an answer that settles it; what is refused or unknown is sent again under its key. */
      async function settle(agent: string, token: string, thread: string, key: string, body: string) {
        for (;;) {
          await restarted.catch(() => {});
          const client: HubClient = clientOf(hub.url, agent, token);
          try {
            const answer = await post(client, thread, body, key);
            if (answer.status === 200) return answer.body;
            if (![503, 401, 429].includes(answer.status)) unexpected.push(answer);
            count.refused++;
          } catch {
            count.unknown++;
          } finally {
            client.close();
          }
          await sleep(50 + 4 * restMs);
        }
      }

      async function write(agent: string, token: string, n: number): Promise<void> {
        const random = seeded(SEED * 1_000 + n);
        for (let i = 0; !enough.signal.aborted; i++) {
          const thread = threads[Math.floor(random() * threads.length)]!;
          const acks = acksByThread.get(thread)!;
          const own = acks.filter((ack) => ack.agent === agent);
          const earlier = random() < 0.1 ? own[Math.floor(random() * own.length)] : undefined;
          const entry = earlier ?? { agent, key: `k${i}`, body: sealed(`${agent} ${i}`) };
          const reported = await settle(agent, token, thread, entry.key, entry.body);
          if (earlier === undefined) {
            acks.push({ ...entry, ...reported });
            count.posts++;
          } else {
            if (reported.message_id !== earlier.message_id) unexpected.push({ replayed: earlier, reported });
            count.repeated++;
          }
          if (restMs > 0) await sleep(restMs);
        }
      }

      async function read(): Promise<void> {
        while (!enough.signal.aborted) {
          for (const thread of threads) {
            const log = await readAll(clientOf(hub.url, AGENTS[0]!, tokens[0]!), thread).catch(() => []);
            const damaged = log.filter(({ seq, body }, i) => seq !== i + 1 || !isWhole(body));
            if (damaged.length > 0) unexpected.push({ damaged });
            count.pages++;
          }
          await sleep(500 + 25 * restMs);
        }
      }

      /** What an operator does: a hub that stopped taking writes for good is started again. */
      async function heal(): Promise<void> {
        const until = performance.now() + pace * 10_000;
        while ((await health(hub).catch(() => 0)) !== 200) {
          if (performance.now() > until) {
            count.faults['restarted by the operator'] = (count.faults['restarted by the operator'] ?? 0) + 1;
            return restart('SIGTERM');
          }
          await sleep(200);
        }
      }

      const working = Promise.all([...AGENTS.map((agent, n) => write(agent, tokens[n]!, n)), read()]);
      const world: World = { hub: () => hub, restart, folder, strace, pace, moveClock: clock.move };
      const random = seeded(SEED);
      const names = Object.keys(FAULTS);
      const until = performance.now() + SECONDS * 1_000;
      for (let i = 0; i < names.length || performance.now() < until; i++) {
        // Each kind once, then as chance has it.
        const name = names[i] ?? names[Math.floor(random() * names.length)]!;
        count.faults[name] = (count.faults[name] ?? 0) + 1;
        await FAULTS[name]!(world, random);
        await heal();
        await sleep(100 + random() * 400);
      }
      enough.abort();
      await working;

      expect(unexpected).toEqual([]);
      const reader = clientOf(hub.url, AGENTS[0]!, tokens[0]!);
      for (const [i, thread] of threads.entries()) {
        const log = await readAll(reader, thread);
        const acks = acksByThread.get(thread)!;
        expectHonestLog(log, acks);
        expect(log).toHaveLength(acks.length);
        await expect.poll(() => followers[i]!.messages.at(-1)?.seq, { timeout: 15_000 }).toBe(log.length);
        expect(followers[i]!.messages.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq));
      }
      await hub.end('SIGTERM');
      expectSoundRecord(folder);
      measured(
        'chaos',
        'posts, faults, slowest start',
        `${count.posts}, ${Object.values(count.faults).reduce((sum, n) => sum + n, 0)}, ${Math.round(Math.max(...restartTimes))} ms`,
      );
      process.stdout.write(
        `chaos, seed ${SEED}: ${JSON.stringify({ ...count, slowest_start_ms: Math.round(Math.max(...restartTimes)) })}\n`,
      );
    },
    (SECONDS + 120) * 1_000,
  );
});
