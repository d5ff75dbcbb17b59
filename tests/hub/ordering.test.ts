import { performance } from 'node:perf_hooks';

import type { Message } from '@parley/protocol';
import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { send } from '../harness/send.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';

const scene = useHub();
const WRITERS = 100;
const { posts: POSTS } = sizeOf('C-HUB-13');
const TOTAL = WRITERS * POSTS;

interface Write {
  seq: number;
  asked: number;
  answered: number;
}

async function readAll(caller: Participant, thread_id: string, limit = 200): Promise<Message[]> {
  const all: Message[] = [];
  for (let since_seq = 0; ;) {
    const page = await caller.ok('read_messages', { thread_id, since_seq, limit });
    all.push(...page.messages);
    since_seq = page.next_seq;
    if (!page.has_more) return all;
  }
}

/** A log is linearizable when nothing answered before another was asked for stands behind it. */
function checkRealTimeOrder(writes: readonly Write[]): void {
  let latestAsked = 0;
  for (const write of writes.toSorted((a, b) => a.seq - b.seq)) {
    expect(write.answered).toBeGreaterThanOrEqual(latestAsked);
    latestAsked = Math.max(latestAsked, write.asked);
  }
}

let bigThread = '';

test('[HUB-E3] [HUB-M4] [C-HUB-13] the posts of 100 writers have seq 1 to the last, each writer in order', async () => {
  const names = Array.from({ length: WRITERS }, (_, i) => `writer-${i}`);
  const alice = scene.as('alice');
  const thread_id = await alice.thread(...names);
  bigThread = thread_id;
  const writes: Write[] = [];
  await Promise.all(
    names.map(async (name, n) => {
      // A few of them over MCP.
      const writer = scene.as(name, { face: faces[n < 6 ? n % faces.length : 0]! });
      for (let i = 0; i < POSTS; i++) {
        const asked = performance.now();
        const { seq } = await writer.say(thread_id, `${i}`, { idempotency_key: `${i}` });
        writes.push({ seq, asked, answered: performance.now() });
      }
    }),
  );
  const messages = await readAll(alice, thread_id);
  expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: TOTAL }, (_, i) => i + 1));
  expect(new Set(messages.map(({ message_id }) => message_id)).size).toBe(TOTAL);
  for (const name of names) {
    const own = messages
      .filter(({ sender_agent_id }) => sender_agent_id === name)
      .map(({ body }) => Number(body));
    expect(own).toEqual(Array.from({ length: POSTS }, (_, i) => i));
  }
  checkRealTimeOrder(writes);
  measured('C-HUB-13', 'posts', `${TOTAL}`);
  const times = messages.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted());
});

test('[HUB-M7] [C-HUB-22] a long thread is summarized', async () => {
  const alice = scene.as('alice');
  const { summary, open_items, last_status, ...rest } = await alice.ok('summarize_thread', {
    thread_id: bigThread,
    max_messages: 10_000,
  });
  expect(summary).toContain(`${TOTAL} messages read of ${TOTAL}`);
  expect([open_items, last_status, rest]).toEqual([
    [],
    'active',
    { messages_read: TOTAL, through_seq: TOTAL, written_by: 'rules' },
  ]);
  expect((await alice.ok('summarize_thread', { thread_id: bigThread })).messages_read).toBe(200);
});

test('[HUB-M4] [C-HUB-14] [R4] pages of 7 chain without gap or repeat while 20 writers post', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `writer-${i}`);
  const alice = scene.as('alice');
  const thread_id = await alice.thread(...names);
  const state = { writing: true };
  const done = Promise.all(
    names.map(async (name) => {
      const writer = scene.as(name);
      for (let i = 0; i < 25; i++) await writer.say(thread_id, `${i}`);
    }),
  ).finally(() => (state.writing = false));
  const seen: number[] = [];
  let since_seq = 0;
  // Each page over another face.
  const readers = faces.map((face) => scene.as('alice', { face }));
  for (let turn = 0; ; turn++) {
    const wasWriting = state.writing;
    const page = await readers[turn % readers.length]!.ok('read_messages', {
      thread_id,
      since_seq,
      limit: 7,
    });
    const seqs = page.messages.map(({ seq }) => seq);
    seen.push(...seqs);
    expect(page.messages.length).toBeLessThanOrEqual(7);
    expect(page.next_seq).toBe(seqs.at(-1) ?? since_seq);
    if (page.has_more) expect(page.messages).toHaveLength(7);
    since_seq = page.next_seq;
    if (!page.has_more && !wasWriting) break;
  }
  await done;
  expect(seen).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
});

test('[HUB-M4] [R4] has_more is exact at the edges, and a page has a default and a greatest size', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  expect(await alice.ok('read_messages', { thread_id })).toEqual({
    messages: [],
    next_seq: 0,
    has_more: false,
  });
  await Promise.all(Array.from({ length: 210 }, (_, i) => alice.say(thread_id, `${i}`)));
  for (const face of faces) {
    const reader = scene.as('alice', { face });
    const sizes = [];
    for (const limit of [undefined, 1, 199, 200, 201, 1e9]) {
      const input = limit === undefined ? { thread_id } : { thread_id, limit };
      const { messages, has_more } = await reader.ok('read_messages', input);
      sizes.push([messages.length, has_more]);
    }
    expect(sizes).toEqual([
      [50, true],
      [1, true],
      [199, true],
      [200, true],
      [200, true],
      [200, true],
    ]);
    const edges = [];
    for (const [since_seq, limit] of [
      [9, 200],
      [10, 200],
      [11, 199],
      [10, 199],
      [209, 1],
      [208, 1],
    ] as const) {
      const { messages, has_more, next_seq } = await reader.ok('read_messages', {
        thread_id,
        since_seq,
        limit,
      });
      edges.push([messages.length, next_seq, has_more]);
    }
    expect(edges).toEqual([
      [200, 209, true],
      [200, 210, false],
      [199, 210, false],
      [199, 209, true],
      [1, 210, false],
      [1, 209, true],
    ]);
  }
});

test('[HUB-M4] pages of large messages are bounded in bytes and still chain', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const body = 'x'.repeat(60_000);
  for (let i = 0; i < 40; i++) await alice.say(thread_id, body);
  const page = await alice.ok('read_messages', { thread_id, limit: 200 });
  expect(page.messages.length).toBeLessThan(20);
  expect(page.has_more).toBe(true);
  expect((await readAll(alice, thread_id)).map(({ seq }) => seq)).toEqual(
    Array.from({ length: 40 }, (_, i) => i + 1),
  );
});

test('[C-HUB-15] positions and limits that are none are refused', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  await alice.say(thread_id, 'x');
  for (const since_seq of [-1, 1.5, '1', null, true, [], {}, 9_007_199_254_740_992, 1e20]) {
    const error = await alice.refused('read_messages', { thread_id, since_seq }, 'VALIDATION_ERROR');
    if (since_seq !== 9_007_199_254_740_992 && since_seq !== 1e20)
      expect(error.details['field']).toBe('since_seq');
  }
  for (const limit of [0, -1, 1.5, '7', null, true]) {
    const error = await alice.refused('read_messages', { thread_id, limit }, 'VALIDATION_ERROR');
    expect(error.details['field']).toBe('limit');
  }
  expect((await alice.ok('read_messages', { thread_id, limit: 1e9 })).messages).toHaveLength(1);
  // Numbers that JavaScript cannot write.
  for (const since_seq of ['9007199254740993', '1e309']) {
    const reply = await send(`${scene.hub.url}/v1/read_messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${alice.token}` },
      body: `{"thread_id":"${thread_id}","since_seq":${since_seq}}`,
    });
    expect([since_seq, reply.status, reply.text]).toEqual([
      since_seq,
      400,
      expect.stringContaining('"code":"VALIDATION_ERROR"'),
    ]);
  }
});

test('[C-HUB-16] beyond the end there is nothing, and the position stays', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  await alice.say(thread_id, 'x');
  for (const since_seq of [1, 2, 1_000, Number.MAX_SAFE_INTEGER]) {
    expect(await alice.ok('read_messages', { thread_id, since_seq })).toEqual({
      messages: [],
      next_seq: since_seq,
      has_more: false,
    });
  }
});

test('[C-HUB-15] [C-HUB-16] the same over the resource-style path', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  await alice.say(thread_id, 'x');
  const get = async (query: string): Promise<number> => {
    const headers = { authorization: `Bearer ${alice.token}` };
    return (await fetch(`${scene.hub.url}/v1/threads/${thread_id}/messages?${query}`, { headers })).status;
  };
  for (const query of [
    'since_seq=-1',
    'since_seq=1.5',
    'since_seq=9007199254740993',
    'since_seq=1e309',
    'since_seq=',
    'since_seq=x',
    'since_seq=0x1',
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=null',
  ])
    expect([query, await get(query)]).toEqual([query, 400]);
  for (const query of ['since_seq=1', 'since_seq=99', 'limit=1000000000', 'since_seq=0&limit=1'])
    expect([query, await get(query)]).toEqual([query, 200]);
});
