import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { backupRecord, exportRecord } from '@parley/store-sqlite';
import { expect, test } from 'vitest';

import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { describeWith } from '../tools/describe-with.ts';
import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { mountForgetful } from './forgetful-folder.ts';
import { clientOf, createThread, type HubClient, ok, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';

interface Line {
  type: string;
  entries?: number;
  entry?: { thread_id: string; seq: number; body: string };
}

/** Posts until told to stop; what is acknowledged is in the list. */
function keepPosting(client: HubClient, thread: string, size: number) {
  const acks: Ack[] = [];
  const enough = new AbortController();
  const running = (async () => {
    for (let i = 0; !enough.signal.aborted; i++) {
      const entry = { agent: client.agent, key: `k${i}`, body: `${i} ${'x'.repeat(size)}` };
      acks.push({ ...entry, ...ok(await post(client, thread, entry.body, entry.key)) });
    }
  })();
  return {
    acks,
    async until(count: number) {
      while (acks.length < count) await Promise.race([sleep(5), running]);
    },
    async stop() {
      enough.abort();
      await running;
    },
  };
}

test('[C-DUR-10] [R4] [R10] an export held open under writes is of one moment, and the write-ahead log shrinks after it', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder);
  const alice = clientOf(hub.url, 'alice', await tokenFor(folder, 'alice'));
  const thread = await createThread(alice);
  const posting = keepPosting(alice, thread, 60_000);
  await posting.until(20);

  const walSize = (): number => statSync(join(folder, 'parley.db-wal')).size;
  const lines: Line[] = [];
  const before = posting.acks.length;
  const reading = exportRecord(folder);
  lines.push(
    JSON.parse(reading.next().value as string) as Line,
    JSON.parse(reading.next().value as string) as Line,
  );
  const after = posting.acks.length;
  const { seconds } = sizeOf('C-DUR-10');
  await Promise.all([posting.until(after + 350), sleep(seconds * 1_000)]);
  const grown = walSize();
  for (const line of reading) lines.push(JSON.parse(line) as Line);

  const [head] = lines;
  const bodies = lines.flatMap(({ entry }) => (entry !== undefined && entry.seq > 0 ? [entry] : []));
  expect(bodies.map(({ seq }) => seq)).toEqual(bodies.map((_, i) => i + 1));
  expect(head).toMatchObject({ type: 'parley.export', entries: bodies.length + 1 });
  // The moment lies between what was acknowledged before and what could be under way.
  expect(bodies.length).toBeGreaterThanOrEqual(before);
  expect(bodies.length).toBeLessThanOrEqual(after + 1);

  measured(
    'C-DUR-10',
    'posts meanwhile, write-ahead log then',
    `${posting.acks.length - after}, ${Math.round(grown / 2 ** 20)} MB`,
  );
  expect(grown).toBeGreaterThan(20 * 1024 * 1024);
  // The next turn of the log that finds no reader in its way brings it back to its size.
  await expect.poll(walSize, { timeout: 30_000 }).toBeLessThanOrEqual(17 * 1024 * 1024);
  measured('C-DUR-10', 'afterwards', `${Math.round(walSize() / 2 ** 20)} MB`);
  await posting.stop();
}, 300_000);

test('[C-DUR-20] a backup taken under writes is a whole prefix of the record, and a hub starts on it', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder);
  const token = await tokenFor(folder, 'alice');
  const alice = clientOf(hub.url, 'alice', token);
  const thread = await createThread(alice);
  const posting = keepPosting(alice, thread, 200);
  await posting.until(100);
  const restored = join(temporaryFolder(), 'restored');
  mkdirSync(restored, { mode: 0o700 });
  const acked = [...posting.acks];
  backupRecord(folder, restored);
  await posting.until(acked.length + 50);
  await posting.stop();

  expectSoundRecord(restored);
  copyFileSync(join(folder, 'auth.json'), join(restored, 'auth.json'));
  const second = await startHub(restored);
  const log = await readAll(clientOf(second.url, 'alice', token), thread);
  expectHonestLog(log, acked);
  expect((await readAll(alice, thread)).slice(0, log.length)).toEqual(log);
  expect(() => backupRecord(folder, restored)).toThrow('is there already');
});

describeWith(['fuse-python'], 'a backup and a power loss', (tools) => {
  test('[C-DUR-20] once it is made, a backup outlives a power loss', async () => {
    const folder = temporaryFolder();
    const hub = await startHub(folder);
    const alice = clientOf(hub.url, 'alice', await tokenFor(folder, 'alice'));
    const thread = await createThread(alice);
    ok(await post(alice, thread, 'hello', 'key'));
    const disk = await mountForgetful(tools['fuse-python']);
    backupRecord(folder, disk.path);
    const image = disk.losePower('strict');
    expect([...exportRecord(image)].filter((line) => line.includes('"body":"hello"'))).toHaveLength(1);
    expectSoundRecord(image);
  });
});
