import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { runCli } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';
import { postEvent } from './events-driver.ts';
import { logged, openFrames, presences, type StreamReader } from './stream-reader.ts';

const scene = useHub();

const ofThread = (thread: string, token: string, query = '', headers = {}) =>
  openFrames(`${scene.hub.url}/v1/threads/${thread}/stream${query}`, token, headers);
const ofWorkspace = (token: string, query = '', headers = {}) =>
  openFrames(`${scene.hub.url}/v1/stream${query}`, token, headers);

const seqs = (reader: StreamReader): number[] => logged(reader).map(({ meta }) => meta.seq);
const upTo = (last: number, first = 0): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);
const patience = { timeout: 20_000, interval: 20 };

test('[BRIDGE-19] a stream begins anywhere and goes over into what happens now, each event once', async () => {
  const alice = scene.as('alice');
  const thread = await alice.thread();
  const total = 400;
  const readers: StreamReader[] = [];
  for (let i = 1; i <= total; i++) {
    await alice.say(thread, `${i}`);
    if (i % 40 === 0)
      readers.push(await ofThread(thread, alice.token, i % 80 === 0 ? '' : `?since_seq=${i - 20}`));
  }
  for (const [i, reader] of readers.entries()) {
    const first = i % 2 === 1 ? 0 : (i + 1) * 40 - 19;
    await expect.poll(() => seqs(reader).at(-1), patience).toBe(total);
    expect(seqs(reader)).toEqual(upTo(total, first));
    expect(
      reader
        .frames()
        .filter(({ id }) => id !== undefined)
        .map(({ id }) => Number(id)),
    ).toEqual(seqs(reader));
  }
});

test('[BRIDGE-19] Last-Event-ID resumes exactly after what was seen, and stands above since_seq', async () => {
  const alice = scene.as('alice');
  const thread = await alice.thread();
  for (let i = 1; i <= 5; i++) await alice.say(thread, `${i}`);
  const back = await ofThread(thread, alice.token, '?since_seq=0', { 'last-event-id': '3' });
  await expect.poll(() => seqs(back), patience).toEqual([4, 5]);
  const creation = await ofThread(thread, alice.token, '', { 'last-event-id': '0' });
  await expect.poll(() => seqs(creation), patience).toEqual([1, 2, 3, 4, 5]);
  for (const wrong of ['x', '-1', '1.5'])
    expect((await ofThread(thread, alice.token, '', { 'last-event-id': wrong })).status).toBe(400);
});

test('[BRIDGE-19] [BRIDGE-10] presence stands between the events, without an id and gathered', async () => {
  const [alice, bob] = [scene.as('alice'), scene.as('bob')];
  const thread = await alice.thread('bob');
  const elsewhere = await alice.thread();
  await bob.ok('set_presence', { thread_id: thread, state: 'listening' });
  const reader = await ofThread(thread, alice.token);
  await expect.poll(() => presences(reader), patience).toEqual([['bob', 'listening']]);
  await alice.ok('set_presence', { thread_id: elsewhere, state: 'typing' });
  for (let i = 0; i < 200; i++)
    await bob.ok('set_presence', { thread_id: thread, state: i % 2 === 0 ? 'thinking' : 'idle' });
  await bob.ok('set_presence', { thread_id: thread, state: 'typing', ttl_ms: 1_000 });
  await alice.say(thread, 'after');
  await expect.poll(() => seqs(reader), patience).toEqual([0, 1]);
  await expect.poll(() => presences(reader).at(-1), patience).toEqual(['bob', 'offline']);
  const reported = presences(reader);
  expect(reported.at(-2)).toEqual(['bob', 'typing']);
  expect(reported.map(([who]) => who)).not.toContain('alice');
  expect(reported.length).toBeLessThan(100);
});

test('[BRIDGE-19] a slow reader waits and misses nothing, and the hub keeps nothing for it', async () => {
  const alice = scene.as('alice');
  const thread = await alice.thread();
  const reader = await ofThread(thread, alice.token);
  reader.pause();
  const body = 'x'.repeat(50_000);
  const total = 200;
  for (let i = 1; i <= total; i++) await alice.say(thread, `${i} ${body}`);
  await alice.ok('set_presence', { thread_id: thread, state: 'typing' });
  await sleep(300);
  reader.resume();
  await expect.poll(() => seqs(reader).at(-1), patience).toBe(total);
  expect(seqs(reader)).toEqual(upTo(total));
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  expect(digest(String(logged(reader).at(-1)?.content))).toBe(digest(`${total} ${body}`));
});

test('[BRIDGE-19] the stream of the workspace says where it stands, follows every thread, and resumes', async () => {
  const user = scene.as('user', { role: 'operator', workspace: 'stream-1' });
  const alice = scene.as('alice', { workspace: 'stream-1' });
  await user.say(await user.thread(), 'before');
  const live = await ofWorkspace(user.token);
  await expect.poll(() => live.frames().length, patience).toBe(1);
  const hello = live.frames()[0];
  const start = Number(hello?.data['pos']);
  expect(hello).toEqual({ id: `w${start}`, name: 'hello', data: { pos: start } });

  const threads = [await alice.thread(), await alice.thread()];
  for (let i = 0; i < 60; i++) await alice.say(threads[i % 2] ?? '', `${i}`);
  await alice.ok('set_presence', { thread_id: threads[0] ?? '', state: 'thinking' });
  const events = (reader: StreamReader) =>
    reader
      .frames()
      .slice(1)
      .filter(({ id }) => id !== undefined);
  await expect.poll(() => events(live).length, patience).toBe(62);
  expect(events(live).map(({ id }) => id)).toEqual(events(live).map(({ data }) => `w${String(data['pos'])}`));
  expect(events(live).map(({ data }) => data['pos'])).toEqual(upTo(start + 62, start + 1));
  await expect.poll(() => presences(live), patience).toEqual([['alice', 'thinking']]);

  const half = start + 31;
  const resumed = await ofWorkspace(user.token, '', { 'last-event-id': `w${half}` });
  await expect.poll(() => events(resumed).length, patience).toBe(31);
  expect(events(resumed)).toEqual(events(live).slice(31));
  const asked = await ofWorkspace(user.token, `?after=${start}`);
  await expect.poll(() => events(asked).length, patience).toBe(62);
  expect(events(asked)).toEqual(events(live));
  const beyond = await send(`${scene.hub.url}/v1/stream?after=${start + 10_000_000}`, {
    headers: { authorization: `Bearer ${user.token}` },
  });
  expect(beyond.status).toBe(400);
  expect(JSON.parse(beyond.text)).toMatchObject({ error: { details: { field: 'after' } } });
});

test('[BRIDGE-19] [R12] a worker’s stream has its own threads and their side channels only', async () => {
  const workspace = 'stream-2';
  const [user, alice, bob] = [
    scene.as('user', { role: 'operator', workspace }),
    scene.as('alice', { workspace }),
    scene.as('bob', { workspace }),
  ];
  const foreign = scene.as('alice', { workspace: 'stream-3' });
  const shared = await alice.thread('bob');
  const hidden = await alice.thread();
  const theirs = await foreign.thread();
  const reader = await ofWorkspace(bob.token);
  const all = await ofWorkspace(user.token);
  await expect.poll(() => reader.frames().length + all.frames().length, patience).toBe(2);
  await alice.ok('set_presence', { thread_id: hidden, state: 'typing' });
  await alice.ok('set_presence', { thread_id: shared, state: 'thinking' });
  await foreign.ok('set_presence', { thread_id: theirs, state: 'idle' });
  await alice.say(hidden, 'hidden');
  await foreign.say(theirs, 'foreign');
  const side = await alice.ok('open_side_channel', { thread_id: shared, title: 'aside', purpose: 'x' });
  await alice.say(side.thread_id, 'in the side channel');
  const later = await alice.thread();
  await user.ok('control_thread', { thread_id: later, control: { invite: { participant_id: 'bob' } } });
  await alice.say(later, 'now bob hears');
  const contents = () =>
    reader
      .frames()
      .slice(1)
      .filter(({ id }) => id !== undefined)
      .map(({ data }) => (data['event'] as { content: unknown }).content);
  await expect.poll(() => contents().at(-1), patience).toBe('now bob hears');
  expect(JSON.stringify(contents())).not.toMatch(/hidden|foreign/);
  expect(contents()).toContain('in the side channel');
  await expect.poll(() => presences(reader), patience).toEqual([['alice', 'thinking']]);
  await expect
    .poll(
      () =>
        presences(all)
          .map(([, state]) => state)
          .toSorted(),
      patience,
    )
    .toEqual(['thinking', 'typing']);
  expect(all.text()).not.toContain('foreign');
});

test('[BRIDGE-19] streams end when their token is revoked and when the hub stops, and go on after it', async () => {
  const hub = await startHub({ settings: { 'auth.recheck_ms': 100 } });
  const revoked = await issueToken({ agent: 'alice' }, { data: hub.data });
  const good = await issueToken({ agent: 'user', role: 'operator' }, { data: hub.data });
  const made = await send(`${hub.url}/v1/create_thread`, {
    method: 'POST',
    headers: { authorization: `Bearer ${revoked.token}`, 'content-type': 'application/json' },
    body: '{"title":"t"}',
  });
  const { thread_id } = JSON.parse(made.text) as { thread_id: string };
  const paths = [`/v1/threads/${thread_id}/stream`, '/v1/stream'];
  const streams = await Promise.all(paths.map((path) => openFrames(`${hub.url}${path}`, revoked.token)));
  const others = await Promise.all(paths.map((path) => openFrames(`${hub.url}${path}`, good.token)));
  expect((await runCli(['token', 'revoke', revoked.jti], { data: hub.data })).code).toBe(0);
  await Promise.all(streams.map(({ ended }) => ended));
  await expect.poll(() => others.map((reader) => logged(reader).length), patience).toEqual([1, 1]);
  const position = others[1]?.frames()[0]?.id ?? '';
  await hub.stop();
  await Promise.all(others.map(({ ended }) => ended));

  const again = await startHub({ data: hub.data });
  expect(
    (await postEvent(again.url, good.token, thread_id, { type: 'message', content: 'still here' })).status,
  ).toBe(200);
  const resumed = await openFrames(`${again.url}/v1/stream`, good.token, { 'last-event-id': position });
  await expect.poll(() => resumed.frames().length, patience).toBe(2);
  expect(resumed.frames()[1]?.data).toMatchObject({ event: { content: 'still here' } });
  await again.stop();
});
