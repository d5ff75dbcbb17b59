import { expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const scene = useHub();

/** Sends raw bytes as the body of an operation. */
async function raw(caller: Participant, operation: string, body: string | Uint8Array) {
  const reply = await send(`${scene.hub.url}/v1/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${caller.token}` },
    body,
  });
  const parsed = JSON.parse(reply.text) as { error?: { code: string; request_id: string; message: string } };
  if (parsed.error !== undefined) scene.ledger.refusals.push(parsed.error);
  return { status: reply.status, code: parsed.error?.code, message: parsed.error?.message };
}

async function refusedRaw(caller: Participant, operation: string, body: string | Uint8Array): Promise<void> {
  const { status, code } = await raw(caller, operation, body);
  expect([status, code, body.slice(0, 200)]).toEqual([400, 'VALIDATION_ERROR', body.slice(0, 200)]);
}

const posting = (thread_id: string, body: string): string =>
  `{"thread_id":"${thread_id}","schema_version":1,"body":${body}}`;

test('a change is seen that leaves as many records as there were', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  await alice.say(thread_id, 'one');
  await alice.say(thread_id, 'two');
  await alice.ok('ack_read', { thread_id, last_read_seq: 1 });
  const counts = await scene.counts();
  const moved = scene.unchanged(() => alice.ok('ack_read', { thread_id, last_read_seq: 2 }));
  await expect(moved).rejects.toThrow('to deeply equal');
  expect(await scene.counts()).toEqual(counts);
});

test('[C-HUB-25] NUL is refused in every text, escaped or raw', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  await scene.unchanged(async () => {
    for (const nul of ['\\u0000', '\0']) {
      await refusedRaw(alice, 'create_thread', `{"title":"a${nul}b"}`);
      await refusedRaw(alice, 'create_thread', `{"title":"x","idempotency_key":"a${nul}b"}`);
      await refusedRaw(alice, 'create_thread', `{"title":"x","participants":["a${nul}b"]}`);
      await refusedRaw(alice, 'post_message', posting(thread_id, `"a${nul}b"`));
      await refusedRaw(alice, 'post_message', posting(thread_id, `"x","idempotency_key":"a${nul}b"`));
      await refusedRaw(alice, 'post_message', posting(thread_id, `"x","metadata":{"a":"a${nul}b"}`));
      await refusedRaw(alice, 'post_message', posting(thread_id, `"x","metadata":{"a${nul}b":1}`));
      await refusedRaw(
        alice,
        'update_thread_status',
        `{"thread_id":"${thread_id}","status":"blocked","reason":"a${nul}b"}`,
      );
      await refusedRaw(alice, 'heartbeat_session', `{"runtime":"a${nul}b"}`);
      await refusedRaw(alice, 'search_messages', `{"query":"a${nul}b"}`);
    }
  });
  const search = await send(`${scene.hub.url}/v1/search/messages?query=a%00b`, {
    headers: { authorization: `Bearer ${alice.token}` },
  });
  expect(search.status).toBe(400);
});

test('[C-HUB-26] half a surrogate pair is refused in every text', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  await scene.unchanged(async () => {
    for (const half of ['\\ud800', '\\udc00', '\\uD83Dx', '\\ud83d\\ud83d', '\\ude00\\ud83d', '\\uDFFF']) {
      await refusedRaw(alice, 'create_thread', `{"title":"${half}"}`);
      await refusedRaw(alice, 'post_message', posting(thread_id, `"a${half}"`));
      await refusedRaw(alice, 'post_message', posting(thread_id, `"x","metadata":{"a":"${half}"}`));
      await refusedRaw(alice, 'post_message', posting(thread_id, `"x","metadata":{"${half}":1}`));
      await refusedRaw(alice, 'post_message', posting(thread_id, `"x","metadata":{"a":["${half}"]}`));
      await refusedRaw(alice, 'post_message', posting(thread_id, `"x","idempotency_key":"${half}"`));
    }
  });
  expect((await raw(alice, 'post_message', posting(thread_id, '"\\ud83d\\ude00"'))).status).toBe(200);
  expect((await alice.ok('read_messages', { thread_id })).messages[0]?.body).toBe('😀');
});

test('[C-HUB-27] bytes that are not UTF-8 are refused, never mended', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const wrong: Record<string, number[]> = {
    'a broken pair': [0xc3, 0x28],
    'a lone continuation': [0x80],
    'an overlong slash': [0xc0, 0xaf],
    'an overlong NUL': [0xc0, 0x80],
    'a longer overlong': [0xe0, 0x80, 0xaf],
    'CESU-8': [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
    'a surrogate': [0xed, 0xa0, 0x80],
    'beyond Unicode': [0xf4, 0x90, 0x80, 0x80],
    'five bytes': [0xf8, 0x88, 0x80, 0x80, 0x80],
    'cut short': [0xe2, 0x82],
    'Latin-1': [0xe9],
    'UTF-16': [...Buffer.from('text', 'utf16le')].map((byte) => (byte === 0 ? 0xff : byte)),
  };
  await scene.unchanged(async () => {
    for (const bytes of Object.values(wrong)) {
      const [head = '', tail = ''] = posting(thread_id, '"%"').split('%');
      await refusedRaw(
        alice,
        'post_message',
        Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]),
      );
    }
    await refusedRaw(alice, 'post_message', Buffer.from(posting(thread_id, '"x"'), 'utf16le'));
  });
  await alice.say(thread_id, 'the replacement character itself is text: \uFFFD');
});

test('[C-HUB-28] a key that stands twice is refused, however it is spelt', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  await scene.unchanged(async () => {
    for (const rest of [
      '"x","body":"y"',
      '"x","\\u0062ody":"y"',
      '"x","sender_agent_id":"alice","sender_agent_id":"bob"',
      '"x","sender_agent_id":"alice","sender_agent_\\u0069d":"alice"',
      '"x","metadata":{"a":1,"a":1}',
      '"x","metadata":{"a":[{"b":1,"c":2,"b":3}]}',
      '"x","metadata":{"":1,"":2}',
      `"x","thread_id":"${thread_id}"`,
    ])
      await refusedRaw(alice, 'post_message', posting(thread_id, rest));
  });
  expect(
    (await raw(alice, 'post_message', posting(thread_id, '"x","metadata":{"a":{"a":[{"a":1},{"a":2}]}}')))
      .status,
  ).toBe(200);
  const query = await send(`${scene.hub.url}/v1/threads/${thread_id}/messages?since_seq=0&since_seq=1`, {
    headers: { authorization: `Bearer ${alice.token}` },
  });
  expect(query.status).toBe(400);
});

test('[C-HUB-30] JSON deeper than 64 is refused at once', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  // The request object and the metadata object are the first two levels.
  const nested = (depth: number): string =>
    posting(thread_id, `"x","metadata":{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`);
  expect((await raw(alice, 'post_message', nested(64))).status).toBe(200);
  await scene.unchanged(async () => {
    await refusedRaw(alice, 'post_message', nested(65));
    await refusedRaw(alice, 'post_message', nested(67));
    await refusedRaw(alice, 'post_message', nested(5_000));
    await refusedRaw(alice, 'post_message', nested(60_000));
    await refusedRaw(alice, 'post_message', '['.repeat(130_000));
    await refusedRaw(alice, 'post_message', '{"a":'.repeat(26_000));
    const million = await raw(alice, 'post_message', nested(1_000_000));
    expect([million.status, million.code]).toEqual([413, 'VALIDATION_ERROR']);
  });
  expect((await alice.ok('read_messages', { thread_id })).messages).toHaveLength(1);
});

test('[HUB-R4] what is not one JSON object of ours is refused', async () => {
  const alice = scene.as('alice');
  const bodies = [
    '',
    ' ',
    '{',
    '}',
    '{}{}',
    '{"title":"x"}x',
    "{'title':'x'}",
    '{"title":"x",}',
    'undefined',
    'NaN',
    '[1,]',
    '{"title":01}',
    '{"title":"\t"}',
    '{"title":"\\x"}',
    '"',
    '\u00a0{}',
    '// x\n{}',
  ];
  await scene.unchanged(async () => {
    for (const body of bodies) await refusedRaw(alice, 'create_thread', body);
    for (const body of ['null', '[]', '5', '"x"', 'true']) await refusedRaw(alice, 'create_thread', body);
    for (const body of [
      '{"title":"x","limit":9007199254740993}',
      '{"title":"x","n":1e309}',
      '{"title":"x","n":-1e309}',
    ])
      await refusedRaw(alice, 'create_thread', body);
    const wide = `{"title":"x","a":[${'1,'.repeat(20_000)}1]}`;
    await refusedRaw(alice, 'create_thread', wide);
  });
  expect((await raw(alice, 'create_thread', '\ufeff{"title":"a byte order mark is no harm"}')).status).toBe(
    200,
  );
});
