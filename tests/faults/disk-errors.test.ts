import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { fillRecord } from '../harness/fill-record.ts';
import { describeAsRoot, describeTracing, makeReadOnly, mountSmallDisk } from './as-root.ts';
import { startHub, temporaryFolder, tokenFor, tryHub } from './crash-hub.ts';
import { clientOf, createThread, health, ok, post, readAll } from './hub-client.ts';
import { expectSoundRecord } from './oracle.ts';
import { injectFault } from './strace.ts';

const UNAVAILABLE = { status: 503, body: { error: { code: 'UNAVAILABLE' } } };

describeTracing(['strace'], 'a failing disk', ({ strace }) => {
  test('[C-DUR-05] [R7] [R8] one failed fsync: no more answers to writes until a restart, then the keys settle what happened', async () => {
    const folder = temporaryFolder();
    const hub = await startHub(folder);
    const token = await tokenFor(folder, 'alice');
    const alice = clientOf(hub.url, 'alice', token);
    const thread = await createThread(alice);
    ok(await post(alice, thread, 'one', 'k1'));
    await sleep(500);
    const wal = join(folder, 'parley.db-wal');
    const fault = await injectFault(strace, hub.pid, {
      path: wal,
      inject: 'fsync,fdatasync:error=EIO:when=1',
    });
    expect(await post(alice, thread, 'two', 'k2')).toMatchObject(UNAVAILABLE);
    await fault.lift();

    expect(await post(alice, thread, 'two', 'k2')).toMatchObject(UNAVAILABLE);
    expect(await post(alice, thread, 'three', 'k3')).toMatchObject(UNAVAILABLE);
    expect(await alice.call('create_thread', { title: 'another' })).toMatchObject(UNAVAILABLE);
    expect(await health(hub)).toBe(503);
    expect(await readAll(alice, thread)).toMatchObject([{ body: 'one' }]);
    expect((await hub.end('SIGTERM')).stderr).toContain('storage fault');

    const client = clientOf((await startHub(folder)).url, 'alice', token);
    ok(await post(client, thread, 'two', 'k2'));
    ok(await post(client, thread, 'three', 'k3'));
    expect((await readAll(client, thread)).map(({ body }) => body)).toEqual(['one', 'two', 'three']);
  });

  test('[C-DUR-05] [R8] a failed fsync of the hub’s own work behind the scenes is told by its health at once', async () => {
    const folder = temporaryFolder();
    const hub = await startHub(folder);
    const alice = clientOf(hub.url, 'alice', await tokenFor(folder, 'alice'));
    const thread = await createThread(alice);
    await sleep(500);
    const wal = join(folder, 'parley.db-wal');
    // The first fsync covers the post, the second the search index that follows the log when nobody writes.
    await injectFault(strace, hub.pid, { path: wal, inject: 'fsync,fdatasync:error=EIO:when=2' });
    ok(await post(alice, thread, 'one', 'k1'));
    await expect.poll(() => health(hub), { timeout: 10_000 }).toBe(503);
    expect(await post(alice, thread, 'two', 'k2')).toMatchObject(UNAVAILABLE);
    expect(await readAll(alice, thread)).toMatchObject([{ body: 'one' }]);
  });

  test('[R8] a read and a write that fail with EIO are refused, never half answered; reads come back by themselves, and a restart has all that was acknowledged', async () => {
    const folder = temporaryFolder();
    const hub = await startHub(folder);
    const token = await tokenFor(folder, 'alice');
    const alice = clientOf(hub.url, 'alice', token);
    const thread = await createThread(alice);
    const bodies = ['one', 'two', 'three'];
    for (const body of bodies) ok(await post(alice, thread, body, body));
    const path = join(folder, 'parley.db-wal');
    const reading = await injectFault(strace, hub.pid, { path, inject: 'pread64:error=EIO' });
    expect(await alice.call('read_messages', { thread_id: thread })).toMatchObject(UNAVAILABLE);
    await reading.lift();
    // What could not be read can be once the disk gives it again, without a restart.
    expect((await readAll(alice, thread)).map(({ body }) => body)).toEqual(bodies);
    const writing = await injectFault(strace, hub.pid, { path, inject: 'pwrite64:error=EIO' });
    expect(await post(alice, thread, 'four', 'four')).toMatchObject(UNAVAILABLE);
    await writing.lift();
    expect(await post(alice, thread, 'four', 'four')).toMatchObject(UNAVAILABLE);
    expect(await health(hub)).toBe(503);
    await hub.end('SIGTERM');

    const client = clientOf((await startHub(folder)).url, 'alice', token);
    ok(await post(client, thread, 'four', 'four'));
    expect((await readAll(client, thread)).map(({ body }) => body)).toEqual([...bodies, 'four']);
  });

  test('[C-DUR-06] [R8] no space for the write-ahead log: refused, readable, and back by itself', async () => {
    const folder = temporaryFolder();
    const hub = await startHub(folder);
    const alice = clientOf(hub.url, 'alice', await tokenFor(folder, 'alice'));
    const thread = await createThread(alice);
    ok(await post(alice, thread, 'before', 'k1'));
    const wal = join(folder, 'parley.db-wal');
    const fault = await injectFault(strace, hub.pid, { path: wal, inject: 'pwrite64:error=ENOSPC' });
    for (const key of ['k2', 'k3']) {
      const refused = await post(alice, thread, key, key);
      expect(refused).toMatchObject(UNAVAILABLE);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(await readAll(alice, thread)).toMatchObject([{ body: 'before' }]);
    await fault.lift();
    expect(ok(await post(alice, thread, 'k2', 'k2'))).toMatchObject({ seq: 2 });
    await hub.end('SIGTERM');
    expectSoundRecord(folder);
  });
});

describeAsRoot('a small disk', () => {
  test('[C-DUR-06] [R8] a full disk refuses writes, answers reads, and takes writes again when there is space', async () => {
    const disk = mountSmallDisk(2 * 1024 * 1024);
    const folder = join(disk, 'data');
    const hub = await startHub(folder);
    const alice = clientOf(hub.url, 'alice', await tokenFor(folder, 'alice'));
    const thread = await createThread(alice);
    const filler = join(disk, 'filler');
    writeFileSync(filler, Buffer.alloc(1024 * 1024));
    const written: string[] = [];
    let refused = 0;
    for (let i = 0; refused < 5; i++) {
      const body = `${i} ${'x'.repeat(20_000)}`;
      const answer = await post(alice, thread, body, `k${i}`);
      if (answer.status === 200) written.push(body);
      else {
        refused++;
        expect(answer).toMatchObject(UNAVAILABLE);
      }
    }
    expect(written.length).toBeGreaterThan(0);
    expect((await readAll(alice, thread)).map(({ body }) => body)).toEqual(written);
    await sleep(500);

    rmSync(filler);
    ok(await post(alice, thread, 'after', 'after'));
    expect((await readAll(alice, thread)).map(({ body }) => body)).toEqual([...written, 'after']);
    expect(await health(hub)).toBe(200);
    expect(await hub.end('SIGTERM')).toMatchObject({ code: 0 });
    expectSoundRecord(folder);
  });

  test('[C-DUR-07] a read-only disk is refused at the start, in words', async () => {
    const disk = mountSmallDisk(4 * 1024 * 1024);
    const folder = join(disk, 'data');
    await fillRecord(folder, []);
    makeReadOnly(disk);
    expect(await tryHub(folder)).toMatchObject({ code: 1, stdout: expect.stringContaining('read-only') });
  });
});

test('[C-DUR-07] a data folder that cannot be made or does not hold our record is refused at the start, in words', async () => {
  const scratch = temporaryFolder();
  writeFileSync(join(scratch, 'file'), '');
  expect(await tryHub(join(scratch, 'file', 'data'))).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/data folder .* cannot be used: .*not a directory/),
  });
  const foreign = join(scratch, 'foreign');
  mkdirSync(foreign);
  writeFileSync(
    join(foreign, 'parley.db'),
    'this is a text, not a database, and somebody may need it'.repeat(100),
  );
  expect(await tryHub(foreign)).toMatchObject({ code: 1, stdout: expect.stringContaining('not a database') });
});

test('[C-DUR-07] [R10] with no file descriptor left the hub serves who is connected, and everybody once there are some', async () => {
  const folder = temporaryFolder();
  const hub = await startHub(folder, { inside: ['sh', '-c', 'ulimit -n 64; exec "$0" "$@"'] });
  const token = await tokenFor(folder, 'alice');
  const alice = clientOf(hub.url, 'alice', token);
  const thread = await createThread(alice);
  const crowd = Array.from({ length: 100 }, () => clientOf(hub.url, 'alice', token));
  const tries = await Promise.allSettled(crowd.map((client) => client.call('list_threads', {})));
  expect(tries.some(({ status }) => status === 'rejected')).toBe(true);
  for (let i = 0; i < 10; i++) ok(await post(alice, thread, `in the crowd ${i}`, `k${i}`));
  for (const client of crowd) client.close();
  await expect
    .poll(() =>
      clientOf(hub.url, 'alice', token)
        .call('list_threads', {})
        .then(
          ({ status }) => status,
          () => 0,
        ),
    )
    .toBe(200);
  expect(await readAll(alice, thread)).toHaveLength(10);
});
