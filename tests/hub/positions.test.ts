import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { createClient } from '@parley/client';
import { expect, test } from 'vitest';

import { openFrames, type StreamReader } from '../events/stream-reader.ts';
import { runJson } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
const patience = { timeout: 20_000, interval: 20 };
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
/** What the stream brought of the log. */
const events = (reader: StreamReader) =>
  reader.frames().filter(({ id, name }) => id !== undefined && name !== 'hello');
const operator = (workspace: string) => scene.as('user', { role: 'operator', workspace });

test('[R12] nobody can count what others write: not by the stream, the log, the state of the hub, or an answer', async () => {
  const [quiet, busy] = [operator('quiet'), operator('busy')];
  const loud = await busy.thread();
  for (let i = 0; i < 25; i++) await busy.say(loud, `${i}`);
  const stream = await openFrames(`${scene.hub.url}/v1/stream`, quiet.token);
  await expect.poll(() => stream.frames().length, patience).toBe(1);
  expect(stream.frames()[0]).toEqual({ id: 'w0', name: 'hello', data: { pos: 0 } });
  expect(await quiet.ok('describe_hub', {})).toMatchObject({ position: 0, search: { behind: 0 } });
  expect(await quiet.ok('read_log', {})).toEqual({ entries: [], next_before: null });
  const thread = await quiet.thread();
  for (let i = 0; i < 5; i++) {
    await quiet.say(thread, `${i}`);
    await busy.say(loud, `more ${i}`);
  }
  await expect.poll(() => events(stream).length, patience).toBe(6);
  const frames = stream.frames().filter(({ data }) => data['pos'] !== undefined);
  expect(frames.map(({ id }) => id)).toEqual([0, ...upTo(6)].map((pos) => `w${pos}`));
  expect(frames.map(({ data }) => data['pos'])).toEqual([0, ...upTo(6)]);
  const { entries } = await quiet.ok('read_log', { limit: 4 });
  expect(entries.map(({ pos }) => pos)).toEqual([6, 5, 4, 3]);
  expect((await quiet.ok('describe_hub', {})).position).toBe(6);
  expect((await busy.ok('describe_hub', {})).position).toBe(31);
  const beyond = await send(`${scene.hub.url}/v1/stream?after=w7`, {
    headers: { authorization: `Bearer ${quiet.token}` },
  });
  expect([beyond.status, JSON.parse(beyond.text)]).toMatchObject([
    400,
    { error: { details: { field: 'after', position: 6 } } },
  ]);
});

test('[R6] who comes back at any position, by the id of an event or by a number, gets all that follows and nothing else', async () => {
  const [one, other] = [operator('back'), operator('back-too')];
  const threads = [await one.thread(), await other.thread()];
  for (let i = 0; i < 8; i++) {
    await one.say(threads[0] ?? '', `${i}`);
    if (i % 2 === 0) await other.say(threads[1] ?? '', `${i}`);
  }
  for (const after of [0, ...upTo(9)])
    for (const [query, headers] of [
      ['', { 'last-event-id': `w${after}` }],
      ['', { 'last-event-id': `${after}` }],
      [`?after=w${after}`, {}],
      [`?after=${after}`, {}],
    ] as const) {
      const stream = await openFrames(`${scene.hub.url}/v1/stream${query}`, one.token, headers);
      await expect.poll(() => events(stream).length, patience).toBe(9 - after);
      expect(stream.frames().flatMap(({ data }) => data['pos'] ?? [])).toEqual([
        after,
        ...upTo(9, after + 1),
      ]);
    }
  for (const wrong of ['x9', 'w', '-1', '1.5', 'w-1', `${10 ** 16}`]) {
    const headers = { authorization: `Bearer ${one.token}`, 'last-event-id': wrong };
    expect((await send(`${scene.hub.url}/v1/stream`, { headers })).status).toBe(400);
  }
});

test('[R6] [R12] a folder of the one count over all workspaces opens, is found sound, and gives up nothing of its old cursors', async () => {
  const data = freshFolder();
  mkdirSync(data, { mode: 0o700 });
  const packed = new URL('../../packages/store-sqlite/src/sample-older-record.db.gz', import.meta.url);
  writeFileSync(join(data, 'parley.db'), gunzipSync(readFileSync(packed)), { mode: 0o600 });
  const hub = await startHub({ data });
  const { token } = await issueToken({ agent: 'sue', workspace: 'south', role: 'operator' }, { data });
  // The fourteen entries of south stood at these positions of the one count; the last of them at 56 of 58.
  const old = [2, 7, 11, 15, 19, 23, 27, 32, 36, 40, 44, 48, 52, 56];
  for (const cursor of [0, 1, 2, 26, 27, 28, 51, 57, 58]) {
    const place = old.filter((pos) => pos <= cursor).length;
    const stream = await openFrames(`${hub.url}/v1/stream`, token, { 'last-event-id': `${cursor}` });
    await expect.poll(() => events(stream).length, patience).toBe(14 - place);
    expect(stream.frames().flatMap(({ data: { pos } }) => pos ?? [])).toEqual([
      place,
      ...upTo(14, place + 1),
    ]);
    expect(stream.frames()[0]?.id).toBe(`w${place}`);
  }
  // A position of today is one, also where it was another's before.
  const stream = await openFrames(`${hub.url}/v1/stream`, token, { 'last-event-id': 'w12' });
  await expect.poll(() => events(stream).length, patience).toBe(2);
  const client = createClient({ url: hub.url, token });
  expect((await client.describe_hub({})).position).toBe(14);
  const made = await client.create_thread({ title: 'after' });
  await client.post_message({ thread_id: made.thread_id, schema_version: 1, kind: 'chat', body: 'new' });
  await expect.poll(() => events(stream).length, patience).toBe(4);
  expect(stream.frames().at(-1)?.id).toBe('w16');
  expect(await hub.stop()).toBe(0);
  expect(await runJson(['doctor'], { data })).toMatchObject({ ok: true, problems: [] });
});
