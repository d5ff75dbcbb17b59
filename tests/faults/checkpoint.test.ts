import { rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { backupRecord, exportRecord } from '@parley/store-sqlite';
import { expect, test } from 'vitest';

import { describeAsRoot, describeTracing, mountSmallDisk } from './as-root.ts';
import { type CrashHub, startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, createThread, health, type HubClient, ok, post, readAll } from './hub-client.ts';
import { expectSoundRecord } from './oracle.ts';
import { injectFault } from './strace.ts';

const TEXT = 'x'.repeat(60_000);
const SETTINGS = { 'quota.messages_burst': 10_000 };
const UNAVAILABLE = { status: 503, body: { error: { code: 'UNAVAILABLE' } } };

/** Posts until the hub refuses; returns what it took. */
async function postUntilRefused(client: HubClient, thread: string, name: string): Promise<string[]> {
  const taken: string[] = [];
  for (let i = 0; i < 2_000; i++) {
    const body = `${name} ${i} ${TEXT}`;
    const answer = await post(client, thread, body, `${name} ${i}`);
    if (answer.status !== 200) {
      expect(answer).toMatchObject(UNAVAILABLE);
      return taken;
    }
    taken.push(body);
  }
  throw new Error('nothing was refused');
}

async function bodies(client: HubClient, thread: string): Promise<string[]> {
  return (await readAll(client, thread)).map(({ body }) => body);
}

describeTracing(['strace'], 'checkpoints that fail', ({ strace }) => {
  async function begin(): Promise<{ hub: CrashHub; token: string; alice: HubClient; thread: string }> {
    const folder = temporaryFolder();
    const hub = await startHub(folder, { settings: SETTINGS });
    const token = await tokenFor(folder, 'alice');
    const alice = clientOf(hub.url, 'alice', token);
    return { hub, token, alice, thread: await createThread(alice) };
  }

  test('[R10] no room in the database: told at once, writes are refused until there is some', async () => {
    const { hub, alice, thread } = await begin();
    const database = join(hub.folder, 'parley.db');
    const fault = await injectFault(strace, hub.pid, { path: database, inject: 'pwrite64:error=ENOSPC' });
    const taken = await postUntilRefused(alice, thread, 'before');
    expect(taken.length).toBeGreaterThan(50);
    expect(await health(hub)).toBe(503);
    // The write-ahead log does not grow for ever.
    expect(statSync(`${database}-wal`).size).toBeLessThan(32 * 1024 * 1024);
    const refused = await post(alice, thread, 'too much', 'too much');
    expect(refused).toMatchObject(UNAVAILABLE);
    expect(refused.headers['retry-after']).toBe('1');
    expect(await bodies(alice, thread)).toEqual(taken);
    await fault.lift();
    await expect.poll(() => health(hub), { timeout: 20_000 }).toBe(200);
    ok(await post(alice, thread, 'after', 'after'));
    expect(await bodies(alice, thread)).toEqual([...taken, 'after']);
    const { code, stderr } = await hub.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr.match(/storage fault/g)).toHaveLength(1);
    expectSoundRecord(hub.folder);
  }, 60_000);

  test('a database that cannot be written, or not synced: told at once, no writes until a restart, and nothing is lost', async () => {
    let { hub, token, alice } = await begin();
    for (const inject of ['pwrite64:error=EIO', 'fsync,fdatasync:error=EIO']) {
      const thread = await createThread(alice);
      const fault = await injectFault(strace, hub.pid, { path: join(hub.folder, 'parley.db'), inject });
      const taken = await postUntilRefused(alice, thread, 'before');
      expect(await health(hub), inject).toBe(503);
      await fault.lift();
      expect(await post(alice, thread, 'too late', 'too late')).toMatchObject(UNAVAILABLE);
      expect(await health(hub), inject).toBe(503);
      expect(await bodies(alice, thread)).toEqual(taken);
      expect((await hub.end('SIGTERM')).stderr, inject).toContain('storage fault');

      hub = await startHub(hub.folder, { settings: SETTINGS });
      alice = clientOf(hub.url, 'alice', token);
      expect(await bodies(alice, thread)).toEqual(taken);
      ok(await post(alice, thread, 'after', 'after'));
      expectSoundRecord(hub.folder);
    }
  }, 60_000);
});

describeAsRoot('a full disk', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'after %s the hub starts on it, serves what it has, and takes writes when there is room',
    async (signal) => {
      const disk = mountSmallDisk(4 * 1024 * 1024);
      const folder = join(disk, 'data');
      const hub = await startHub(folder);
      const token = await tokenFor(folder, 'alice');
      const alice = clientOf(hub.url, 'alice', token);
      const thread = await createThread(alice);
      for (let i = 0; i < 20; i++) ok(await post(alice, thread, `message ${i}`, `k${i}`));
      const taken = await bodies(alice, thread);
      await hub.end(signal);
      const filler = join(disk, 'filler');
      fill(filler);
      // Whoever looks at it from outside needs no room either, where the hub was stopped.
      if (signal === 'SIGTERM') {
        expectSoundRecord(folder);
        expect([...exportRecord(folder)].length).toBeGreaterThan(20);
        expectSoundRecord(dirname(backupRecord(folder, temporaryFolder())));
      }

      // Each start needs the room that the one before has left.
      for (const again of ['first', 'second']) {
        const full = await startHub(folder);
        const client = clientOf(full.url, 'alice', token);
        expect(await bodies(client, thread)).toEqual(taken);
        taken.push(...(await postUntilRefused(client, thread, again)));
        expect(await health(full)).toBe(503);
        expect(await bodies(client, thread)).toEqual(taken);
        await full.end(signal);
        fill(filler);
      }

      rmSync(filler);
      const last = await startHub(folder);
      const client = clientOf(last.url, 'alice', token);
      ok(await post(client, thread, 'room', 'room'));
      expect(await bodies(client, thread)).toEqual([...taken, 'room']);
      expect(await health(last)).toBe(200);
      expect(await last.end('SIGTERM')).toMatchObject({ code: 0 });
      expectSoundRecord(folder);
    },
    60_000,
  );
});

/** Takes every byte that the disk still has. */
function fill(path: string): void {
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
}
