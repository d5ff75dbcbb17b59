import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

test.each(faces)(
  '[HUB-R5] [C-HUB-05] a retry over $name gives the first result and writes nothing',
  async (face) => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const first = await alice.say(thread_id, 'once', { idempotency_key: 'k' });
    await alice.say(thread_id, 'something between');
    await scene.unchanged(async () => {
      for (let i = 0; i < 3; i++)
        expect(await alice.say(thread_id, 'once', { idempotency_key: 'k' })).toEqual(first);
      const again = scene.as('alice', { face, session: 'another-session' });
      expect(await again.say(thread_id, 'once', { idempotency_key: 'k' })).toEqual(first);
    });
  },
);

test.each(faces)(
  '[HUB-R6] [C-HUB-06] the same key over $name with any other payload is a conflict',
  async (face) => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const { message_id } = await alice.say(thread_id, 'parent');
    const payload = {
      kind: 'event',
      metadata: { event_type: 'note', a: 1 },
      in_reply_to: message_id,
      idempotency_key: 'k',
    };
    const first = await alice.say(thread_id, 'body', payload);
    const base = { thread_id, schema_version: 1, body: 'body', ...payload };
    await scene.unchanged(async () => {
      for (const change of [
        { body: 'another' },
        { body: 'body ' },
        { metadata: { event_type: 'note', a: 2 } },
        { metadata: { event_type: 'note' } },
        { metadata: { event_type: 'note', a: 1, b: null } },
        { metadata: undefined },
        { kind: 'chat' },
        { kind: undefined },
        { in_reply_to: undefined },
        { in_reply_to: first.message_id },
      ]) {
        const error = await alice.refused('post_message', { ...base, ...change }, 'IDEMPOTENCY_CONFLICT');
        expect(error.details).toMatchObject({ field: 'idempotency_key' });
      }
      expect(await alice.ok('post_message', base as never)).toEqual(first);
    });
    const { messages } = await alice.ok('read_messages', { thread_id, since_seq: 1 });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({ body: 'body', metadata: payload.metadata });
  },
);

/** Posts a message whose metadata is written exactly so, to a thread with the key `k`. */
async function post(token: string, text: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const reply = await send(`${scene.hub.url}/v1/post_message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: text,
  });
  return { status: reply.status, body: JSON.parse(reply.text) as Record<string, unknown> };
}

test('[HUB-R5] [C-HUB-07] key order, whitespace and escapes do not make another payload', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const spellings = [
    `{"thread_id":"${thread_id}","schema_version":1,"body":"h\u00e9","metadata":{"a":1,"b":{"c":[1,2],"d":"x"}},"idempotency_key":"k"}`,
    `{"idempotency_key":"k","metadata":{"b":{"d":"x","c":[1,2]},"a":1},"body":"h\u00e9","schema_version":1,"thread_id":"${thread_id}"}`,
    `\n{ "thread_id" : "${thread_id}",\t"schema_version":1 , "body":"h\\u00e9","metadata":{"a":1,"b":{"c":[ 1 , 2 ],"\\u0064":"\\u0078"}},\r\n"idempotency_key":"\\u006b"} `,
  ];
  const answers = [];
  for (const text of spellings) answers.push(await post(alice.token, text));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  const swapped = spellings[0]?.replace('[1,2]', '[2,1]') ?? '';
  expect((await post(alice.token, swapped)).status).toBe(409);
});

test('[HUB-R5] [HUB-R6] [C-HUB-12] 1.0 is 1 and 1e2 is 100, but "1" is not 1', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const text = (a: string, b: string): string =>
    `{"thread_id":"${thread_id}","schema_version":1,"body":"x","metadata":{"a":${a},"b":${b}},"idempotency_key":"k"}`;
  const first = await post(alice.token, text('1', '100'));
  expect(first.status).toBe(200);
  await scene.unchanged(async () => {
    for (const [a, b] of [
      ['1.0', '100'],
      ['1', '1e2'],
      ['1.000', '1.0E+2'],
      ['10e-1', '100.00'],
    ] as const)
      expect(await post(alice.token, text(a, b))).toEqual(first);
    for (const [a, b] of [
      ['"1"', '100'],
      ['1', '"100"'],
      ['true', '100'],
      ['1.0000001', '100'],
      ['[1]', '100'],
      ['1', 'null'],
    ] as const)
      expect((await post(alice.token, text(a, b))).status).toBe(409);
  });
});

test('[C-HUB-08] a key belongs to one sender in one thread', async () => {
  const alice = scene.as('alice');
  const bob = scene.as('bob');
  const here = await alice.thread('bob');
  const there = await alice.thread('bob');
  const posted = [
    await alice.say(here, 'same', { idempotency_key: 'k' }),
    await bob.say(here, 'same', { idempotency_key: 'k' }),
    await alice.say(there, 'same', { idempotency_key: 'k' }),
    await bob.say(there, 'other', { idempotency_key: 'k' }),
  ];
  expect(new Set(posted.map(({ message_id }) => message_id)).size).toBe(4);
  const namesake = scene.as('alice', { workspace: 'w2' });
  await namesake.say(await namesake.thread(), 'same', { idempotency_key: 'k' });
  await alice.ok('create_thread', { title: 'same', idempotency_key: 'k' });
  await alice.ok('ack_read', { thread_id: here, last_read_seq: 1, idempotency_key: 'k' });
});

test.each(faces)(
  '[HUB-R5] [C-HUB-09] 64 posts at once over $name with one key are one message',
  async (face) => {
    const callers = Array.from({ length: 8 }, (_, i) => scene.as('alice', { face, session: `alice-${i}` }));
    const thread_id = await scene.as('alice', { face }).thread();
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        callers[i % 8]!.say(thread_id, 'the one', { idempotency_key: 'k' }),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await scene.as('alice', { face }).ok('get_thread', { thread_id })).last_seq).toBe(1);
  },
);

test('[C-HUB-09] 64 posts at once with one key and two payloads: one payload wins, the other is a conflict', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, i) =>
      alice.call('post_message', {
        thread_id,
        schema_version: 1,
        body: `payload ${i % 2}`,
        idempotency_key: 'k',
      }),
    ),
  );
  const good = answers.filter(({ status }) => status === 200);
  expect(good).toHaveLength(32);
  expect(new Set(good.map(({ result }) => JSON.stringify(result))).size).toBe(1);
  expect(new Set(answers.map(({ error }) => error?.code))).toEqual(
    new Set([undefined, 'IDEMPOTENCY_CONFLICT']),
  );
});

test('[C-HUB-11] a key is 1 to 255 bytes; a longer one is refused, never cut', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const base = 'k'.repeat(254);
  await scene.unchanged(async () => {
    for (const idempotency_key of [
      '',
      'k'.repeat(10_000),
      'a\0b',
      `${base}aX`,
      `${base}aY`,
      'é'.repeat(128),
      '\ud800',
    ]) {
      const input = { thread_id, schema_version: 1, body: 'x', idempotency_key };
      await alice.refused('post_message', input, 'VALIDATION_ERROR');
    }
  });
  const [x, y] = [
    await alice.say(thread_id, 'x', { idempotency_key: `${base}X` }),
    await alice.say(thread_id, 'y', { idempotency_key: `${base}Y` }),
  ];
  expect([x.seq, y.seq]).toEqual([1, 2]);
  await alice.say(thread_id, 'z', { idempotency_key: `${'é'.repeat(127)}k` });
});

test('[HUB-R5] a refused post does not use its key up', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const wrong = { thread_id, schema_version: 1, body: 'x', in_reply_to: 'msg_unknown', idempotency_key: 'k' };
  await alice.refused('post_message', wrong, 'NOT_FOUND');
  expect((await alice.say(thread_id, 'y', { idempotency_key: 'k' })).seq).toBe(1);
});
