import { join } from 'node:path';

import type { ThreadsQuery } from '@parley/core';
import { afterAll, expect, test } from 'vitest';

import { Batches } from './batches.ts';
import { openReader } from './open-database.ts';
import { DATABASE_FILE, openSqliteStore } from './open-store.ts';
import { Reader } from './reader.ts';
import { SampleCommands, sampleThread } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { ThreadPort } from './thread-port.ts';

const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

function freshRecord(): { folder: string; writer: Batches; reader: () => Reader } {
  const folder = sampleFolder();
  folders.push(folder);
  const writer = new Batches(openSample(folder));
  return { folder, writer, reader: () => new Reader(openReader(join(folder, DATABASE_FILE))) };
}

test('[HUB-E4] what is unread is exact in a thread of any length, wherever the cursor stands', () => {
  const { writer, reader } = freshRecord();
  const sample = new SampleCommands();
  writer.run([sample.create(0, ['bob'])]);
  for (let i = 0; i < 14; i++)
    writer.run(Array.from({ length: 500 }, (_, j) => sample.post(j % 5 === 0 ? 'bob' : 'alice', 0, 'x')));
  const thread_id = sampleThread(0);
  expect(reader().reading(thread_id, 'bob')).toMatchObject({ last_read_seq: 0, own: 1_400 });
  writer.run([sample.ack('bob', 0, 1_001)]);
  expect(reader().reading(thread_id, 'bob')).toMatchObject({ last_read_seq: 1_001, own: 1_199 });
  expect(reader().reading(thread_id, 'alice')).toMatchObject({ last_read_seq: 0, own: 5_600 });
  writer.close();
}, 60_000);

test('[R4] [R10] a list of many threads is read in short steps, and holds each once for whomever reads it', () => {
  const { writer, reader } = freshRecord();
  const sample = new SampleCommands();
  const count = 5_600;
  for (let first = 0; first < count; first += 400)
    writer.run(
      Array.from({ length: 400 }, (_, i) => {
        const n = first + i;
        const others = [...(n < 2_100 ? ['bob'] : []), ...(n % 700 === 0 ? ['carol'] : [])];
        return sample.create(n, others);
      }),
    );
  const read = (participant: string | undefined, limit: number): { found: string[]; pages: number } => {
    const found: string[] = [];
    let pages = 0;
    let before: ThreadsQuery['before'];
    do {
      const query = { workspace_id: 'w', participant, reader: 'bob', status: undefined, unread: false };
      const page = reader().threads({ ...query, limit, max_bytes: 1e9, before });
      found.push(...page.rows.map(({ state }) => state.thread_id));
      before = page.next;
      pages++;
    } while (before !== undefined);
    return { found, pages };
  };
  const newest = (wanted: (n: number) => boolean): string[] =>
    Array.from({ length: count }, (_, i) => count - 1 - i)
      .filter(wanted)
      .map(sampleThread);
  expect(read(undefined, 200)).toEqual({ found: newest(() => true), pages: count / 200 });
  expect(read('bob', 200).found).toEqual(newest((n) => n < 2_100));
  expect(read('carol', 3)).toEqual({ found: newest((n) => n % 700 === 0), pages: 3 });
  writer.close();
}, 60_000);

test('[R10] a batch is bounded by time as well as by count', () => {
  const { writer, reader } = freshRecord();
  const sample = new SampleCommands();
  writer.run([sample.create(0, ['bob'])]);
  const posts = [1, 2, 3].map((n) => sample.post('alice', 0, `${n}`));
  expect(writer.run(posts, 0)).toEqual([{ ok: expect.objectContaining({ replayed: false }) }]);
  expect(writer.run(posts.slice(1))).toHaveLength(2);
  const page = { workspace_id: 'w', thread_id: sampleThread(0), after: 0, limit: 9, max_bytes: 1e9 };
  expect(
    reader()
      .page(page)
      .entries.map(({ body }) => body),
  ).toEqual(['1', '2', '3']);
  writer.close();
});

test('[R10] [R12] however much one workspace writes, another’s post waits for a batch and not for all of it', async () => {
  const folder = sampleFolder();
  folders.push(folder);
  const store = await openSqliteStore({ folder, maxBatch: 100, onFault: () => {} });
  const sample = new SampleCommands();
  await store.transact(sample.create(0, []));
  await store.transact(sample.create(1, [], undefined, 'v'));
  let answered = 0;
  const flood = Array.from({ length: 3_000 }, (_, i) =>
    store.transact(sample.post('alice', 0, `${i}`)).then(() => answered++),
  );
  const seqs = store.transact(sample.post('alice', 1, 'x', { workspace: 'v' })).then(() => answered);
  // In the order of arrival it would be after all 3,000; how far they are when it arrives is the machine's affair.
  expect(await seqs).toBeLessThan(2_500);
  await Promise.all(flood);
  const page = { workspace_id: 'w', thread_id: sampleThread(0), limit: 1, max_bytes: 1e9 };
  expect((await store.tail(page)).entries.map(({ seq, body }) => [seq, body])).toEqual([[3_000, '2999']]);
  await store.close();
}, 60_000);

test('[R10] [R12] where each command of a workspace fills a commit, another’s is in the next but one', async () => {
  const folder = sampleFolder();
  folders.push(folder);
  const start = { role: 'writer', path: join(folder, DATABASE_FILE), maxBatch: 512, batchMs: 0 } as const;
  const none = (): void => {};
  const port = await ThreadPort.open(start, {
    maxQueue: 999,
    maxPiece: 512,
    onFault: none,
    onRecovery: none,
  });
  const sample = new SampleCommands();
  await port.call(sample.create(0, []));
  await port.call(sample.create(1, [], undefined, 'v'));
  let answered = 0;
  const flood = Array.from({ length: 400 }, (_, i) =>
    port.call(sample.post('alice', 0, `${i}`)).then(() => answered++),
  );
  const before = port.call(sample.post('alice', 1, 'x', { workspace: 'v' })).then(() => answered);
  // With no turns it would be the last; how far they are when it arrives is the machine's affair.
  expect(await before).toBeLessThan(300);
  await Promise.all(flood);
  await port.close();
}, 60_000);
