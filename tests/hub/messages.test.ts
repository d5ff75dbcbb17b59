import { describe, expect, test } from 'vitest';

import { faces, v1Driver } from '../harness/call.ts';
import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

describe.each(faces)('over $name', (face) => {
  test('[HUB-M3] [HUB-E2] a posted message is read back with every field', async () => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread('bob');
    const question = await alice.say(thread_id, 'ready?');
    const posted = await scene.as('bob', { face }).ok('post_message', {
      thread_id,
      schema_version: 1,
      kind: 'event',
      body: 'Blocking issue found',
      metadata: { event_type: 'finding_reported', severity: 'high', line: 42 },
      in_reply_to: question.message_id,
      idempotency_key: 'rv-find-219-1',
    });
    expect(posted).toEqual({
      message_id: posted.message_id,
      seq: 2,
      thread_status: 'active',
      created_at: posted.created_at,
      called: ['alice'],
      not_called: [],
      invokes: ['alice'],
    });
    expect(posted.created_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    const { messages } = await alice.ok('read_messages', { thread_id });
    expect(messages).toEqual([
      {
        message_id: question.message_id,
        thread_id,
        schema_version: 1,
        seq: 1,
        sender_agent_id: 'alice',
        sender_session_id: 'alice-1',
        kind: 'chat',
        body: 'ready?',
        called: ['bob'],
        created_at: question.created_at,
      },
      {
        message_id: posted.message_id,
        thread_id,
        schema_version: 1,
        seq: 2,
        sender_agent_id: 'bob',
        sender_session_id: 'bob-1',
        kind: 'event',
        body: 'Blocking issue found',
        metadata: { event_type: 'finding_reported', severity: 'high', line: 42 },
        in_reply_to: question.message_id,
        idempotency_key: 'rv-find-219-1',
        called: ['alice'],
        created_at: posted.created_at,
      },
    ]);
  });

  test('[HUB-V2] [C-HUB-03] schema_version is needed and must be a supported one', async () => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    await scene.unchanged(async () => {
      for (const schema_version of [undefined, 0, 2, '1', 1.5, null, true, [1], -1]) {
        const input = { thread_id, schema_version, body: 'x' };
        const error = await alice.refused('post_message', input, 'VALIDATION_ERROR');
        expect(error.message).toBe('schema_version: must be one of the supported versions: 1');
      }
    });
    await alice.say(thread_id, 'x', { schema_version: 1 });
  });

  test('[C-HUB-04] what only the hub may set is ignored', async () => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const posted = await alice.say(thread_id, 'x', {
      seq: 99,
      message_id: 'msg_mine',
      created_at: '1999-01-01T00:00:00.000Z',
      thread_status: 'closed',
    });
    expect(posted).toMatchObject({ seq: 1, thread_status: 'active' });
    expect(posted.message_id).not.toBe('msg_mine');
    const { messages } = await alice.ok('read_messages', { thread_id });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({
      seq: 1,
      message_id: posted.message_id,
      created_at: posted.created_at,
    });
    expect(messages[0]).not.toHaveProperty('thread_status');
    expect(Date.now() - Date.parse(posted.created_at)).toBeLessThan(60_000);
  });

  test('[HUB-E7] [C-HUB-20] in_reply_to must name a message of the same thread', async () => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const first = await alice.say(thread_id, 'first');
    const elsewhere = await alice.say(await alice.thread(), 'elsewhere');
    const later = first.message_id.replace(/0000001(.{5})$/, '0000009$1');
    const zero = first.message_id.replace(/0000001(.{5})$/, '0000000$1');
    const salted = `${first.message_id.slice(0, -1)}${first.message_id.endsWith('0') ? '1' : '0'}`;
    await scene.unchanged(async () => {
      for (const in_reply_to of [
        elsewhere.message_id,
        later,
        zero,
        salted,
        'msg_unknown',
        'x',
        first.message_id.toLowerCase(),
      ])
        await alice.refused(
          'post_message',
          { thread_id, schema_version: 1, body: 'x', in_reply_to },
          'NOT_FOUND',
        );
      for (const in_reply_to of ['', 5, null, [first.message_id]])
        await alice.refused(
          'post_message',
          { thread_id, schema_version: 1, body: 'x', in_reply_to },
          'VALIDATION_ERROR',
        );
    });
    await alice.say(thread_id, 'yes', { in_reply_to: first.message_id });
  });

  test('[HUB-V3] [HUB-V4] [HUB-R1] [C-HUB-21] unknown events and unknown fields are kept as they came', async () => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const metadata = {
      event_type: 'coffee_brewed',
      event_version: '7.2-beta',
      nested: { list: [1, 'two', null, true, { deep: [] }], text: 'ü' },
      '': 'empty key',
      zero: 0,
      negative: -1.5e-7,
    };
    await alice.say(thread_id, 'x', { kind: 'event', metadata, from_the_future: { any: 'thing' } });
    const known = { event_type: 'fix_pushed', event_version: 3, commit: 'abc1234', extra: { kept: true } };
    await alice.say(thread_id, 'x', { kind: 'event', metadata: known });
    const { messages } = await alice.ok('read_messages', { thread_id, from_the_future: true });
    expect(messages.map((message) => message.metadata)).toEqual([metadata, known]);
    for (const event_version of [1, 2.5, '1', 'v2', ''])
      await alice.say(thread_id, 'x', { kind: 'event', metadata: { event_type: 'brewed', event_version } });
    const kept = (await alice.ok('read_messages', { thread_id, since_seq: 2 })).messages;
    expect(kept.map(({ metadata: { event_version } = {} }) => event_version)).toEqual([
      1,
      2.5,
      '1',
      'v2',
      '',
    ]);
  });

  test('[HUB-E2] [BRIDGE-5] a bad field is refused by its name', async () => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const bad: [string, Record<string, unknown>][] = [
      ['kind', { kind: 'shout' }],
      ['kind', { kind: null }],
      ['body', { body: undefined }],
      ['body', { body: '' }],
      ['body', { body: 5 }],
      ['body', { body: ['x'] }],
      ['metadata', { metadata: 'x' }],
      ['metadata', { metadata: [] }],
      ['metadata', { metadata: null }],
      ['thread_id', { thread_id: undefined }],
      ['thread_id', { thread_id: 5 }],
      ['thread_id', { thread_id: '' }],
      ['thread_id', { thread_id: 'x'.repeat(129) }],
      ['idempotency_key', { idempotency_key: 5 }],
    ];
    await scene.unchanged(async () => {
      for (const [field, change] of bad) {
        const input = { thread_id, schema_version: 1, body: 'x', ...change };
        expect((await alice.refused('post_message', input, 'VALIDATION_ERROR')).details['field']).toBe(field);
      }
      // On MCP the protocol itself already wants an object.
      for (const input of face === v1Driver ? [null, [], 'x', 5] : [])
        await alice.refused('post_message', input, 'VALIDATION_ERROR');
    });
  });

  test('[C-HUB-24] text of every script comes back as it went in', async () => {
    const alice = scene.as('alice', { face });
    const texts = [
      '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽 ☠️',
      '漢字かな交じり文 한국어 繁體字 𠜎𠜱',
      'שלום עולם العربية \u202Ertl\u202C \u200F',
      'e\u0301 vs \u00E9, Z\u0351\u036B\u0343a\u0321l\u0322g\u0323o\u0324',
      '\u200B\u200C\u200D\uFEFF\u2060',
      'line\nbreak\r\ntab\t quote" back\\slash / \u2028\u2029 \u007F\u0085\u001B[31m',
      '\u{10FFFF}\uFFFE\uFFFF\uFFFD',
    ];
    const title = texts[0] ?? '';
    const { thread_id } = await alice.ok('create_thread', { title });
    for (const body of texts)
      await alice.say(thread_id, body, { metadata: { [body]: body }, idempotency_key: body });
    const { messages } = await alice.ok('read_messages', { thread_id });
    for (const [i, { body, metadata, idempotency_key }] of messages.entries()) {
      const bytes = Buffer.from(texts[i] ?? '', 'utf8');
      expect(Buffer.from(body, 'utf8').equals(bytes)).toBe(true);
      expect(metadata).toEqual({ [texts[i] ?? '']: texts[i] });
      expect(idempotency_key).toBe(texts[i]);
    }
    expect((await alice.ok('get_thread', { thread_id })).title).toBe(title);
  });

  test('[C-HUB-29] names that mean something to JavaScript are only data', async () => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread();
    const metadata = {
      constructor: { prototype: { polluted: true } },
      prototype: { polluted: true },
      toString: 'x',
      hasOwnProperty: 'x',
      valueOf: null,
      toJSON: 'x',
      length: -1,
    };
    await alice.say(thread_id, 'x', { metadata, idempotency_key: 'toString' });
    const { messages } = await alice.ok('read_messages', { thread_id });
    expect(messages[0]?.metadata).toEqual(metadata);
    expect(JSON.stringify(messages[0]?.metadata)).toBe(JSON.stringify(metadata));
    await alice.refused('get_thread', { thread_id: 'constructor' }, 'NOT_FOUND');
    expect(await alice.ok('get_thread', { thread_id })).not.toHaveProperty('polluted');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('[C-HUB-29] __proto__ is refused wherever it stands', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${alice.token}` };
  const post = (metadata: string) =>
    send(`${scene.hub.url}/v1/post_message`, {
      method: 'POST',
      headers,
      body: `{"thread_id":"${thread_id}","schema_version":1,"body":"x","metadata":${metadata}}`,
    });
  await scene.unchanged(async () => {
    for (const metadata of [
      '{"__proto__":{"polluted":true}}',
      '{"a":[{"__proto__":1}]}',
      '{"\\u005f_proto__":1}',
      '{"constructor":{"__proto__":null}}',
    ]) {
      const { status, text } = await post(metadata);
      expect([status, (JSON.parse(text) as { error: { code: string } }).error.code]).toEqual([
        400,
        'VALIDATION_ERROR',
      ]);
    }
  });
  expect((await post('{"__proto":1,"proto__":2}')).status).toBe(200);
});
