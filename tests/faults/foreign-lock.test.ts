import { join } from 'node:path';

import { expect, test } from 'vitest';

import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { holdLock } from './foreign-lock.ts';
import { clientOf, createThread, health, ok, post, readAll } from './hub-client.ts';
import { expectSoundRecord } from './oracle.ts';

const BUSY = {
  status: 503,
  body: {
    error: {
      code: 'UNAVAILABLE',
      message: 'another program holds the database; nothing was written',
      details: { retry_after_ms: 1_000 },
    },
  },
};

test('a foreign lock that is held for long refuses writes, and nothing else; they go on by themselves', async () => {
  const folder = temporaryFolder();
  const database = join(folder, 'parley.db');
  const hub = await startHub(folder);
  const token = await tokenFor(folder, 'alice');
  const alice = clientOf(hub.url, 'alice', token);
  const thread = await createThread(alice);
  ok(await post(alice, thread, 'one', 'k1'));

  const release = await holdLock(database);
  const waiting = Promise.all([post(alice, thread, 'two', 'k2'), post(alice, thread, 'three', 'k3')]);
  for (let i = 0; i < 20; i++) expect(await readAll(alice, thread)).toHaveLength(1);
  for (const refused of await waiting) {
    expect(refused).toMatchObject(BUSY);
    expect(refused.headers['retry-after']).toBe('1');
  }
  expect(await health(hub)).toBe(503);
  expect(await readAll(alice, thread)).toHaveLength(1);
  expectSoundRecord(folder);

  await release();
  // Nobody has to write for it to be noticed.
  await expect.poll(() => health(hub), { timeout: 5_000 }).toBe(200);
  expect(ok(await post(alice, thread, 'two', 'k2'))).toMatchObject({ seq: 2 });
  expect(ok(await post(alice, thread, 'two', 'k2'))).toMatchObject({ seq: 2 });
  expect(ok(await post(alice, thread, 'three', 'k3'))).toMatchObject({ seq: 3 });
  const { stderr } = await hub.end('SIGTERM');
  expect(stderr.match(/storage fault/g)).toHaveLength(1);
  expect(stderr).toContain('writes are taken again');
  expectSoundRecord(folder);

  const again = await holdLock(database);
  const second = await startHub(folder);
  const reader = clientOf(second.url, 'alice', token);
  expect((await readAll(reader, thread)).map(({ body }) => body)).toEqual(['one', 'two', 'three']);
  await again();
  expect(ok(await post(reader, thread, 'four', 'k4'))).toMatchObject({ seq: 4 });
}, 60_000);
