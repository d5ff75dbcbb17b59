import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { describeTracing } from './as-root.ts';
import { type CrashHub, startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, createThread, ok, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';
import { injectFault } from './strace.ts';

const { kills: KILLS } = sizeOf('C-DUR-03');
const unlimited = { 'quota.messages_per_minute': 10_000_000, 'quota.messages_burst': 10_000_000 };

test(
  '[C-DUR-03] [R1] [R2] [R3] [R9] [HUB-E3] many kills under eight writers lose nothing and double nothing',
  async () => {
    const folder = temporaryFolder();
    let hub: CrashHub = await startHub(folder, { settings: unlimited });
    const agents = Array.from({ length: 8 }, (_, i) => `writer-${i}`);
    const tokens = await Promise.all(agents.map((agent) => tokenFor(folder, agent)));
    const thread = await createThread(clientOf(hub.url, agents[0]!, tokens[0]!), agents);
    const acks: Ack[] = [];
    const unexpected: unknown[] = [];
    let retries = 0;
    const enough = new AbortController();

    async function write(agent: string, token: string): Promise<void> {
      let client = clientOf(hub.url, agent, token);
      let url = hub.url;
      for (let i = 0; !enough.signal.aborted; i++) {
        const entry = { agent, key: `k${i}`, body: `${agent} ${i}` };
        for (;;) {
          try {
            const answer = await post(client, thread, entry.body, entry.key);
            if (answer.status === 200) acks.push({ ...entry, ...answer.body });
            else unexpected.push(answer);
            break;
          } catch {
            // Unknown: the same key settles it with the hub that comes back.
            retries++;
            while (hub.url === url) await sleep(5);
            url = hub.url;
            client.close();
            client = clientOf(url, agent, token);
          }
        }
      }
      client.close();
    }

    const writing = Promise.all(agents.map((agent, i) => write(agent, tokens[i]!)));
    const restarts: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(40 + 13 * (kill % 9));
      await hub.end('SIGKILL');
      hub = await startHub(folder, { settings: unlimited });
      restarts.push(hub.startedInMs);
    }
    await sleep(100);
    enough.abort();
    await writing;

    expect(unexpected).toEqual([]);
    expect(retries).toBeGreaterThan(KILLS);
    expect(acks.length).toBeGreaterThan(KILLS);
    measured('C-DUR-03', 'slowest start', `${Math.round(Math.max(...restarts))} ms`);
    measured('C-DUR-03', 'kills, acknowledged posts', `${KILLS}, ${acks.length}`);
    expect(Math.max(...restarts)).toBeLessThan(5_000);
    const log = await readAll(clientOf(hub.url, agents[0]!, tokens[0]!), thread);
    expectHonestLog(log, acks);
    expect(log).toHaveLength(acks.length);
    await hub.end('SIGTERM');
    expectSoundRecord(folder);
  },
  60_000 + KILLS * 3_000,
);

describeTracing(['strace'], 'killed at a chosen moment', ({ strace }) => {
  const moments = {
    // A commit takes four locks; its fifth call gives back the writer's lock, after the fsync and before any answer.
    'after the record was synced': { file: 'parley.db-shm', inject: 'fcntl:signal=SIGKILL:when=5' },
    'after the record was written, before it was synced': {
      file: 'parley.db-wal',
      inject: 'fdatasync,fsync:signal=SIGKILL',
    },
  };
  test('[C-HUB-33] [R3] [R7] killed after the record was synced, and before: the retry returns the one record', async () => {
    const folder = temporaryFolder();
    let hub = await startHub(folder);
    const token = await tokenFor(folder, 'alice');
    for (const [moment, { file, inject }] of Object.entries(moments)) {
      const thread = await createThread(clientOf(hub.url, 'alice', token));
      // What the hub does by itself when nobody writes is done.
      await sleep(500);
      await injectFault(strace, hub.pid, { path: join(folder, file), inject });
      const lost = post(clientOf(hub.url, 'alice', token), thread, 'hello', moment);
      await expect(lost, moment).rejects.toThrow();
      await hub.ended;

      hub = await startHub(folder);
      const client = clientOf(hub.url, 'alice', token);
      const [survivor, ...others] = await readAll(client, thread);
      expect(others, moment).toEqual([]);
      const retried = ok(await post(client, thread, 'hello', moment));
      expect(retried, moment).toMatchObject({ seq: 1, message_id: survivor?.message_id });
      expect(await readAll(client, thread)).toEqual([survivor]);
    }
  });
});
