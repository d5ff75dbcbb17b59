import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { describeTracing } from './as-root.ts';
import { startHub, tokenFor } from './crash-hub.ts';
import { mountForgetful } from './forgetful-folder.ts';
import { clientOf, connect, createThread, ok, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';
import { injectFault } from './strace.ts';

describeWith(['fuse-python'], 'power loss', (tools) => {
  test('[C-DUR-02] [R1] 1,000 answers outlive a power loss, whatever else reached the disk', async () => {
    const disk = await mountForgetful(tools['fuse-python']);
    const hub = await startHub(join(disk.path, 'data'));
    const agents = Array.from({ length: 8 }, (_, i) => `writer-${i}`);
    const clients = await Promise.all(agents.map((agent) => connect(hub, agent)));
    const thread = await createThread(clients[0]!, agents);
    const acks: Ack[] = [];
    const writing = Promise.all(
      clients.map(async (client) => {
        for (let i = 0; i < 125; i++) {
          const entry = { agent: client.agent, key: `k${i}`, body: `message ${i} ${'x'.repeat(i * 7)}` };
          acks.push({ ...entry, ...ok(await post(client, thread, entry.body, entry.key)) });
        }
      }),
    );
    // The power fails in the midst of writing, over and over, and at the end.
    const images: { folder: string; acked: Ack[] }[] = [];
    for (const seed of [1, 2, 3]) {
      const wanted = seed * 240;
      while (acks.length < wanted) await sleep(2);
      const acked = [...acks];
      images.push({ folder: join(disk.losePower(seed), 'data'), acked });
    }
    await writing;
    images.push({ folder: join(disk.losePower('strict'), 'data'), acked: [...acks] });
    await hub.end('SIGKILL');

    expect(acks).toHaveLength(1_000);
    for (const { folder, acked } of images) {
      const revived = await startHub(folder);
      expectHonestLog(await readAll(await connect(revived, agents[0]!), thread), acked);
      await revived.end('SIGTERM');
      expectSoundRecord(folder);
    }
  });

  test('[C-DUR-25] the folder, the key and the first thread are there once they were answered', async () => {
    const disk = await mountForgetful(tools['fuse-python']);
    const folder = ['not', 'yet', 'there'].join('/');
    const hub = await startHub(join(disk.path, folder));
    const token = await tokenFor(hub.folder, 'alice');
    const started = disk.losePower(1);
    const alice = clientOf(hub.url, 'alice', token);
    const thread = await createThread(alice);
    const image = disk.losePower('strict');
    await hub.end('SIGKILL');

    const first = await startHub(join(started, folder));
    expect((await clientOf(first.url, 'alice', token).call('list_threads', {})).body).toMatchObject({
      threads: [],
    });
    const second = await startHub(join(image, folder));
    expect((await clientOf(second.url, 'alice', token).call('list_threads', {})).body).toMatchObject({
      threads: [{ thread_id: thread }],
    });
  });
});

describeTracing(['fuse-python', 'strace'], 'power loss after a crash', (tools) => {
  test('[R1] [R3] a record that only a crash recovery brought to light is synced before its key is answered', async () => {
    const disk = await mountForgetful(tools['fuse-python']);
    const data = join(disk.path, 'data');
    const hub = await startHub(data);
    const token = await tokenFor(data, 'alice');
    const thread = await createThread(clientOf(hub.url, 'alice', token));
    const wal = join(data, 'parley.db-wal');
    // The record is in the write-ahead log, and the hub dies before it can sync it.
    await injectFault(tools.strace, hub.pid, { path: wal, inject: 'fdatasync,fsync:signal=SIGKILL' });
    await expect(post(clientOf(hub.url, 'alice', token), thread, 'once', 'the-key')).rejects.toThrow();
    await hub.ended;

    const revived = await startHub(data);
    const retried = ok(await post(clientOf(revived.url, 'alice', token), thread, 'once', 'the-key'));
    const image = join(disk.losePower('strict'), 'data');
    await revived.end('SIGKILL');

    const third = await startHub(image);
    expect(await readAll(clientOf(third.url, 'alice', token), thread)).toMatchObject([
      { message_id: retried.message_id, body: 'once' },
    ]);
  });
});
