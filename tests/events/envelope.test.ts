import type { ErrorEnvelope } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { type Reply, send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { type Event, postEvent, readEvents } from './events-driver.ts';

const scene = useHub();
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

const post = (token: string, thread: string, event: unknown): Promise<Reply> =>
  postEvent(scene.hub.url, token, thread, event);

async function posted(token: string, thread: string, event: unknown): Promise<Event> {
  const { status, text } = await post(token, thread, event);
  expect([status, text]).toEqual([200, text]);
  return (JSON.parse(text) as { event: Event }).event;
}

/** A refusal in the envelope of every face; the oracle wants to find it in the log once. */
function refusal(reply: Reply, code: string): ErrorEnvelope['error'] {
  const { error } = JSON.parse(reply.text) as ErrorEnvelope;
  expect([error.code, error.message]).toEqual([code, error.message]);
  expect(error.request_id).toMatch(/^req_/);
  scene.ledger.refusals.push({ request_id: error.request_id, code: error.code });
  return error;
}

describe.each(faces)('beside $name', (face) => {
  test('[BRIDGE-1] [BRIDGE-5] one entry is a message there and an event here', async () => {
    const [alice, bob] = [scene.as('alice', { face }), scene.as('bob', { face })];
    const thread = await alice.thread('bob');
    const said = await alice.say(thread, 'hello', {
      to: 'bob',
      metadata: { tags: ['x', 'y'], mood: 'good' },
    });
    const replied = await bob.say(thread, 'hi', { in_reply_to: said.message_id });
    const { events, next_seq, has_more } = await readEvents(scene.hub.url, bob.token, thread, '?since_seq=0');
    expect({ next_seq, has_more }).toEqual({ next_seq: 2, has_more: false });
    const [first, second] = events;
    expect(first).toEqual({
      id: said.message_id.replace('msg_', ''),
      ts: said.created_at,
      thread,
      type: 'message',
      from: 'alice',
      to: 'bob',
      content: 'hello',
      meta: { seq: 1, kind: 'chat', tags: ['x', 'y'], metadata: { mood: 'good' }, called: ['bob'] },
    });
    expect(first?.id).toMatch(ULID);
    expect(second).toMatchObject({ to: 'all', meta: { seq: 2, reply_to: first?.id } });
    expect(second?.id).toBe(replied.message_id.replace('msg_', ''));

    const event = await posted(alice.token, thread, {
      type: 'message',
      content: 'and back',
      meta: { reply_to: second?.id, tags: ['z'] },
    });
    const { messages } = await bob.ok('read_messages', { thread_id: thread, since_seq: 2 });
    expect(messages).toMatchObject([
      {
        message_id: `msg_${event.id}`,
        seq: 3,
        kind: 'chat',
        body: 'and back',
        sender_agent_id: 'alice',
        in_reply_to: replied.message_id,
        metadata: { tags: ['z'] },
        created_at: event.ts,
      },
    ]);
    expect(messages[0]).not.toHaveProperty('to');
  });
});

test('[BRIDGE-1] an event of an agent, a status and an ask keep their own words', async () => {
  const alice = scene.as('alice');
  const user = scene.as('user', { role: 'operator' });
  const thread = await alice.thread();
  await alice.say(thread, 'broken', { kind: 'event', metadata: { event_type: 'finding_reported', line: 4 } });
  await alice.ok('update_thread_status', { thread_id: thread, status: 'blocked', reason: 'waiting' });
  await alice.ok('raise_ask', { thread_id: thread, prompt: 'may I?' });
  await user.say(thread, 'a person', {
    metadata: { tags: 'no list', human: false, seq: 99, reply_to: 'forged' },
  });
  const { events } = await readEvents(scene.hub.url, alice.token, thread, '?since_seq=0');
  expect(events.map(({ type, content, meta: { seq: _seq, ...meta } }) => [type, content, meta])).toEqual([
    ['message', 'broken', { kind: 'event', metadata: { event_type: 'finding_reported', line: 4 } }],
    [
      'control',
      {
        'thread.status': expect.objectContaining({
          from: 'active',
          to: 'blocked',
          reason: 'waiting',
        }) as object,
      },
      { kind: 'system' },
    ],
    [
      'control',
      {
        'ask.raised': expect.objectContaining({
          ask: expect.objectContaining({ prompt: 'may I?' }) as object,
        }) as object,
      },
      { kind: 'event' },
    ],
    [
      'message',
      'a person',
      { kind: 'chat', human: true, metadata: { tags: 'no list', human: false, seq: 99, reply_to: 'forged' } },
    ],
  ]);
});

test('[BRIDGE-1] pages of events chain exactly from the thread’s creation on', async () => {
  const alice = scene.as('alice');
  const thread = await alice.thread();
  for (let i = 1; i <= 7; i++) await alice.say(thread, `${i}`);
  const seen: number[] = [];
  let query = '?limit=3';
  for (;;) {
    const page = await readEvents(scene.hub.url, alice.token, thread, query);
    seen.push(...page.events.map(({ meta }) => meta.seq));
    if (!page.has_more) break;
    query = `?limit=3&since_seq=${page.next_seq}`;
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(await readEvents(scene.hub.url, alice.token, thread, '?since_seq=7')).toEqual({
    events: [],
    next_seq: 7,
    has_more: false,
  });
  for (const bad of ['since_seq=-1', 'since_seq=x', 'limit=0', 'limit=1&limit=2', 'after=3'])
    refusal(
      await send(`${scene.hub.url}/v1/threads/${thread}/events?${bad}`, {
        headers: { authorization: `Bearer ${alice.token}` },
      }),
      'VALIDATION_ERROR',
    );
});

test('[BRIDGE-1] [BRIDGE-5] [C-BRIDGE-11] [C-HUB-20] an envelope is taken whole or refused by its field', async () => {
  const alice = scene.as('alice');
  const thread = await alice.thread('bob');
  const message = { type: 'message', content: 'x' };
  expect(await posted(alice.token, thread, message)).toMatchObject({ to: 'all', from: 'alice' });
  expect(await posted(alice.token, thread, { ...message, to: 'all', thread, from: 'alice' })).toMatchObject({
    to: 'all',
  });
  expect(await posted(alice.token, thread, { ...message, to: 'bob' })).toMatchObject({ to: 'bob' });
  const elsewhere = await posted(alice.token, await alice.thread('bob'), message);
  const bad: [unknown, string, string?][] = [
    [{ ...message, to: 'ghost' }, 'to'],
    [{ ...message, to: ['bob'] }, 'to'],
    [{ ...message, to: '' }, 'to'],
    [{ ...message, to: null }, 'to'],
    [{ ...message, content: { text: 'x' } }, 'content'],
    [{ ...message, content: 5 }, 'content'],
    [{ ...message, content: '' }, 'content'],
    [{ ...message, content: 'x'.repeat(65_537) }, 'content'],
    [{ type: 'message' }, 'content'],
    [{ ...message, type: 'poke' }, 'type'],
    [{ ...message, type: 'control.mute' }, 'type'],
    [{ content: 'x' }, 'type'],
    [{ ...message, thread: 'another' }, 'thread'],
    [{ ...message, ts: 'yesterday' }, 'ts'],
    [{ ...message, id: '' }, 'id'],
    [{ ...message, id: 7 }, 'id'],
    [{ ...message, meta: { reply_to: 5 } }, 'meta.reply_to'],
    [{ ...message, meta: { tags: 'x' } }, 'meta.tags'],
    [{ ...message, meta: { tags: [1] } }, 'meta.tags.0'],
    [{ ...message, meta: { colour: 'red' } }, 'meta'],
    [{ ...message, extra: true }, 'event'],
    [{ type: 'control', content: 'pause' }, 'content'],
    [{ type: 'control', content: {} }, 'content'],
    [{ type: 'control', content: { prod: ['bob'] }, to: 'ghost' }, 'to'],
    [{ type: 'control', content: { prod: ['bob'] }, to: ['bob'] }, 'to'],
    [{ type: 'control', meta: { colour: 'red' } }, 'meta'],
    [{ type: 'control', meta: { reply_to: 'unknown' } }, 'meta.reply_to', 'NOT_FOUND'],
    [{ type: 'presence', to: 'ghost' }, 'to'],
    [{ type: 'presence', meta: { reply_to: 'unknown' } }, 'meta.reply_to', 'NOT_FOUND'],
    [{ type: 'presence', content: {} }, 'content.state'],
    [{ type: 'result', content: ['x'], meta: { task_id: 'x' } }, 'content'],
    [{ type: 'presence', content: 'thinking' }, 'content'],
    [{ type: 'task', content: 'x' }, 'to'],
    [{ type: 'task', content: 'x', to: 'all' }, 'to'],
    [{ type: 'result', content: 'x' }, 'meta'],
    [{ type: 'result', content: 'x', meta: {} }, 'meta.reply_to'],
    [[message], 'event'],
    ['"message"', 'event'],
    [{ ...message, meta: { reply_to: 'unknown' } }, 'meta.reply_to', 'NOT_FOUND'],
    [{ ...message, meta: { reply_to: elsewhere.id } }, 'meta.reply_to', 'NOT_FOUND'],
    [{ type: 'result', content: 'x', meta: { task_id: 'unknown' } }, 'meta.reply_to', 'NOT_FOUND'],
    [{ ...message, from: 'bob' }, 'from', 'CLAIM_MISMATCH'],
  ];
  await scene.unchanged(async () => {
    for (const [event, field, code = 'VALIDATION_ERROR'] of bad) {
      const { details, message: said } = refusal(await post(alice.token, thread, event), code);
      expect([event, details['field']]).toEqual([event, field]);
      expect(said).not.toMatch(/\bbody\b|in_reply_to|idempotency_key/);
    }
    expect(
      (await post(alice.token, thread, '{"type":"message","type":"control","content":"x"}')).status,
    ).toBe(400);
    expect((await post(alice.token, thread, '{"type":')).status).toBe(400);
  });
});

test('[C-BRIDGE-08] an id that a client sends again makes no second event, here or in another thread', async () => {
  const [alice, bob] = [scene.as('alice'), scene.as('bob')];
  const [thread, other] = [await alice.thread('bob'), await alice.thread('bob')];
  const id = '01JD0000000000000000000001';
  const event = { id, type: 'message', content: 'once' };
  const first = await posted(alice.token, thread, event);
  expect(first.id).toMatch(ULID);
  expect(await posted(alice.token, thread, event)).toEqual(first);
  expect(await Promise.all(Array.from({ length: 20 }, () => posted(alice.token, thread, event)))).toEqual(
    Array(20).fill(first),
  );
  for (const [where, again] of [
    [thread, { ...event, content: 'twice' }],
    [thread, { id, type: 'control', content: { prod: ['bob'] } }],
    [thread, { id, type: 'task', to: 'bob', content: 'once' }],
    [thread, { id, type: 'presence', content: { state: 'thinking', persist: true } }],
    [other, event],
  ] as const) {
    const { details } = refusal(await post(alice.token, where, again), 'IDEMPOTENCY_CONFLICT');
    expect(details['field']).toBe('id');
  }
  // A key on another face, and another sender's id, are other words.
  await alice.say(thread, 'keyed', { idempotency_key: id });
  await posted(bob.token, other, event);
  const all = [thread, other].map((one) => readEvents(scene.hub.url, alice.token, one, '?since_seq=0'));
  const events = (await Promise.all(all)).flatMap((page) => page.events);
  expect(events.map(({ from, content }) => [from, content])).toEqual([
    ['alice', 'once'],
    ['alice', 'keyed'],
    ['bob', 'once'],
  ]);
  expect(new Set(events.map((one) => one.id)).size).toBe(3);
});

test('[BRIDGE-2] [C-BRIDGE-09] events cannot be changed, deleted or reached by a trick', async () => {
  const alice = scene.as('alice');
  const thread = await alice.thread();
  const { id } = await posted(alice.token, thread, { type: 'message', content: 'for ever' });
  const headers = { authorization: `Bearer ${alice.token}`, 'content-type': 'application/json' };
  const at = `${scene.hub.url}/v1/threads/${thread}`;
  await scene.unchanged(async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const reply = await send(`${at}/events`, { method, headers, body: '{}' });
      expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, POST']);
      expect((await send(`${at}/events/${id}`, { method, headers, body: '{}' })).status).toBe(404);
      const stream = await send(`${at}/stream`, { method, headers, body: '{}' });
      expect([stream.status, stream.headers.allow]).toEqual([405, 'GET']);
    }
    expect((await send(`${scene.hub.url}/v1/stream`, { method: 'POST', headers, body: '{}' })).status).toBe(
      405,
    );
    for (const trick of [
      "1' OR '1'='1",
      '%27%3B--',
      '..%2f..%2fetc%2fpasswd',
      `${thread}%00`,
      '%',
      '__proto__',
    ]) {
      const path = `${scene.hub.url}/v1/threads/${encodeURI(trick)}`;
      refusal(await send(`${path}/events`, { headers }), 'NOT_FOUND');
      refusal(await send(`${path}/stream`, { headers }), 'NOT_FOUND');
    }
  });
});

test('[BRIDGE-1] the doors of the events are guarded as all others', async () => {
  const [alice, stranger] = [scene.as('alice'), scene.as('stranger')];
  const foreign = scene.as('carol', { workspace: 'w2', role: 'operator' });
  const thread = await alice.thread();
  const at = `${scene.hub.url}/v1/threads/${thread}`;
  const message = { type: 'message', content: 'x' };
  for (const path of ['events', 'stream']) {
    const get = (token: string) =>
      send(`${at}/${path}`, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } });
    refusal(await get(stranger.token), 'FORBIDDEN');
    refusal(await get(foreign.token), 'OUT_OF_SCOPE_WORKSPACE');
    refusal(await get(''), 'UNAUTHORIZED');
  }
  refusal(await post(stranger.token, thread, message), 'FORBIDDEN');
  refusal(await post(foreign.token, thread, { ...message, from: 'alice' }), 'OUT_OF_SCOPE_WORKSPACE');
  refusal(await post(scene.as('alice', { role: 'observer' }).token, thread, message), 'FORBIDDEN');
  refusal(await postEvent(scene.hub.url, undefined, thread, message), 'UNAUTHORIZED');
});
