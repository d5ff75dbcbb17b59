import type { OutputOf } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { openStream } from '../harness/open-stream.ts';
import { linesOf } from '../harness/stored-record.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

describe('reading', () => {
  async function cursorOf(thread_id: string, agent_id: string): Promise<unknown> {
    return (await linesOf(scene.hub.data))
      .map((line) => JSON.parse(line) as { type: string; cursor?: { thread_id: string; agent_id: string } })
      .find(({ cursor }) => cursor?.thread_id === thread_id && cursor.agent_id === agent_id)?.cursor;
  }

  test.each(faces)(
    '[HUB-M5] [HUB-E4] [C-HUB-17] a cursor over $name moves forward to what is there, and nowhere else',
    async (face) => {
      const alice = scene.as('alice', { face });
      const bob = scene.as('bob', { face });
      const thread_id = await alice.thread('bob');
      const sent = [
        await alice.say(thread_id, '1'),
        await alice.say(thread_id, '2'),
        await alice.say(thread_id, '3'),
      ];
      const first = await bob.ok('ack_read', { thread_id, last_read_seq: 2 });
      expect(first).toEqual({ ok: true, updated_at: first.updated_at });
      expect(first.updated_at).toMatch(/^\d{4}-.*Z$/);
      const stored = {
        thread_id,
        agent_id: 'bob',
        last_read_seq: 2,
        last_acked_message_id: sent[1]?.message_id,
        updated_at: first.updated_at,
      };
      expect(await cursorOf(thread_id, 'bob')).toEqual(stored);
      for (const last_read_seq of [1, 0, 4, 1_000_000, -1, 1.5, '3', null]) {
        const error = await bob.refused('ack_read', { thread_id, last_read_seq }, 'VALIDATION_ERROR');
        expect(error.details['field']).toBe('last_read_seq');
      }
      expect(await bob.ok('ack_read', { thread_id, last_read_seq: 2 })).toEqual(first);
      expect(await cursorOf(thread_id, 'bob')).toEqual(stored);
      await bob.ok('ack_read', { thread_id, last_read_seq: 3 });
      expect(await cursorOf(thread_id, 'bob')).toMatchObject({
        last_read_seq: 3,
        last_acked_message_id: sent[2]?.message_id,
      });
      expect(await cursorOf(thread_id, 'alice')).toBeUndefined();
    },
  );

  test('[HUB-M5] a first acknowledgement of nothing is a cursor at 0', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread();
    await alice.ok('ack_read', { thread_id, last_read_seq: 0 });
    expect(await cursorOf(thread_id, 'alice')).toMatchObject({
      last_read_seq: 0,
      last_acked_message_id: null,
    });
    await alice.refused('ack_read', { thread_id, last_read_seq: 1 }, 'VALIDATION_ERROR');
  });

  test('[HUB-M5] [R5] acknowledgements at once leave the cursor at the highest that was accepted', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread();
    for (let i = 0; i < 20; i++) await alice.say(thread_id, `${i}`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => alice.call('ack_read', { thread_id, last_read_seq: 20 - i })),
    );
    const accepted = answers.flatMap(({ status }, i) => (status === 200 ? [20 - i] : []));
    expect(await cursorOf(thread_id, 'alice')).toMatchObject({ last_read_seq: Math.max(...accepted) });
  });

  test.each(faces)(
    '[HUB-R3] who has read a message over $name, and what refers to it, can be asked',
    async (face) => {
      const alice = scene.as('alice', { face });
      const bob = scene.as('bob', { face });
      const thread_id = await alice.thread('bob', 'carol');
      const { message_id } = await alice.say(thread_id, 'please look');
      const ask = () => alice.ok('get_message', { thread_id, message_id });
      expect(await ask()).toMatchObject({ read_by: [], unread_by: ['bob', 'carol'], referenced_by: [] });
      const { updated_at } = await bob.ok('ack_read', { thread_id, last_read_seq: 1 });
      const reply = await bob.say(thread_id, 'looking', { in_reply_to: message_id });
      expect(await ask()).toEqual({
        message: (await alice.ok('read_messages', { thread_id })).messages[0],
        read_by: [{ agent_id: 'bob', at: updated_at }],
        unread_by: ['carol'],
        referenced_by: [reply.message_id],
      });
      const elsewhere = await alice.thread();
      await alice.refused('get_message', { thread_id: elsewhere, message_id }, 'NOT_FOUND');
      await alice.refused('get_message', { thread_id, message_id: 'msg_unknown' }, 'NOT_FOUND');
    },
  );

  test.each(faces)(
    '[HUB-M10] wait_for_messages over $name answers at once, on arrival, or when the time is up',
    async (face) => {
      const alice = scene.as('alice', { face });
      const bob = scene.as('bob', { face });
      const thread_id = await alice.thread('bob');
      const none = await bob.ok('wait_for_messages', { thread_id, timeout_ms: 50 });
      expect(none).toEqual({ messages: [], next_seq: 0, has_more: false, timed_out: true });

      const waiting = bob.ok('wait_for_messages', { thread_id, timeout_ms: 30_000 });
      await new Promise((resolve) => setTimeout(resolve, 100));
      await alice.say(thread_id, 'wake up');
      const woken = await waiting;
      expect(woken).toMatchObject({ next_seq: 1, has_more: false, timed_out: false });
      expect(woken.messages.map(({ body }) => body)).toEqual(['wake up']);

      const there = await bob.ok('wait_for_messages', { thread_id, timeout_ms: 30_000 });
      expect(there.messages).toEqual(woken.messages);
      await scene
        .as('carol', { face })
        .refused('wait_for_messages', { thread_id, timeout_ms: 0 }, 'FORBIDDEN');
      await bob.refused('wait_for_messages', { thread_id, timeout_ms: -1 }, 'VALIDATION_ERROR');
      await bob.refused('wait_for_messages', { thread_id, timeout_ms: 300_001 }, 'VALIDATION_ERROR');
    },
  );

  test('[HUB-M10] forty who wait are all woken by one message', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread();
    const waiting = Array.from({ length: 40 }, () =>
      alice.ok('wait_for_messages', { thread_id, timeout_ms: 30_000 }),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    await alice.say(thread_id, 'all of you');
    const bodies = (await Promise.all(waiting)).map(({ messages }) => messages[0]?.body);
    expect(new Set(bodies)).toEqual(new Set(['all of you']));
  });

  test('[HUB-M4] a stream gives the log and then what follows, and resumes where it broke off', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread();
    for (let i = 1; i <= 5; i++) await alice.say(thread_id, `${i}`);
    const { url } = scene.hub;
    const first = await openStream(url, alice.token, thread_id);
    expect(first.status).toBe(200);
    const posting = (async () => {
      for (let i = 6; i <= 300; i++) await alice.say(thread_id, `${i}`);
    })();
    await expect.poll(() => first.messages().length, { timeout: 10_000 }).toBeGreaterThan(20);
    first.close();
    const seen = first.messages().map(({ seq }) => seq);
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1));
    const second = await openStream(url, alice.token, thread_id, { 'last-event-id': String(seen.at(-1)) });
    await posting;
    await expect.poll(() => second.messages().at(-1)?.seq, { timeout: 10_000 }).toBe(300);
    second.close();
    const all = [...seen, ...second.messages().map(({ seq }) => seq)];
    expect(all).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  });

  test('[HUB-A6] a stream of a thread that is not yours does not begin', async () => {
    const thread_id = await scene.as('alice').thread();
    const stream = await openStream(scene.hub.url, scene.as('carol').token, thread_id);
    expect(stream.status).toBe(403);
    await stream.ended;
  });

  test.each(faces)(
    '[HUB-M10] search_messages over $name finds words and phrases in the caller’s own threads',
    async (face) => {
      const workspace = `library-${faces.indexOf(face)}`;
      const alice = scene.as('alice', { face, workspace });
      const thread_id = await alice.thread('bob');
      const hidden = await alice.thread();
      await alice.say(thread_id, 'The zebra crossed the river');
      await alice.say(thread_id, 'A river of zebras, and a naïve OR NOT "quoted" (word)*');
      await alice.say(hidden, 'a secret zebra');
      const bob = scene.as('bob', { face, workspace });
      const find = async (caller: typeof bob, query: string, more = {}): Promise<string[]> => {
        const { hits } = await caller.ok('search_messages', { query, ...more });
        return hits.map(({ message }) => message.body).toSorted();
      };
      await expect
        .poll(async () => (await alice.ok('search_messages', { query: 'zebra' })).complete, {
          timeout: 20_000,
        })
        .toBe(true);
      expect(await find(bob, 'zebra')).toEqual(['The zebra crossed the river']);
      expect(await find(alice, 'zebra')).toEqual(['The zebra crossed the river', 'a secret zebra']);
      expect(await find(alice, 'zebra', { thread_id: hidden })).toEqual(['a secret zebra']);
      expect(await find(bob, 'river')).toHaveLength(2);
      expect(await find(bob, '"the river"')).toHaveLength(1);
      expect(await find(bob, 'NAIVE')).toHaveLength(1);
      expect(await find(bob, 'unicorn')).toEqual([]);
      for (const odd of [
        '"',
        '*',
        'OR',
        'NOT zebra"',
        'body:zebra',
        '(((',
        'zebra NEAR(',
        '-',
        '^zebra',
        "'; DROP TABLE entries; --",
        '\\',
        '%',
        'a'.repeat(1_000),
      ])
        await bob.ok('search_messages', { query: odd });
      await bob.refused('search_messages', { query: 'zebra', thread_id: hidden }, 'FORBIDDEN');
      await bob.refused('search_messages', { query: '' }, 'VALIDATION_ERROR');
      await bob.refused('search_messages', { query: 'a'.repeat(1_001) }, 'VALIDATION_ERROR');
      expect(await find(scene.as('bob', { face, workspace: 'elsewhere' }), 'zebra')).toEqual([]);
    },
  );

  test.each(faces)(
    '[HUB-M2] [HUB-M10] [HUB-E4] over $name a thread tells the caller how far it has read; its own posts are not unread',
    async (face) => {
      const workspace = `reading-${face.name.replaceAll(/\W/g, '')}`;
      const [alice, bob] = [scene.as('alice', { workspace, face }), scene.as('bob', { workspace, face })];
      await alice.ok('heartbeat_session', { runtime: 'codex_cli' });
      const thread_id = await alice.thread('bob');
      const own = await alice.say(thread_id, 'one');
      const stands = async (who = alice) => {
        const { last_read_seq, last_acked_message_id, unread } = await who.ok('get_thread', { thread_id });
        const { threads } = await who.ok('list_threads', {});
        expect(threads).toMatchObject([{ thread_id, last_read_seq, last_acked_message_id, unread }]);
        const left = await who.ok('list_threads', { unread: true });
        expect(left.threads.map((thread) => thread.thread_id)).toEqual(unread === 0 ? [] : [thread_id]);
        expect(left.next_before).toBeNull();
        return [last_read_seq, last_acked_message_id, unread];
      };
      expect(await stands()).toEqual([0, null, 0]);
      expect(await stands(bob)).toEqual([0, null, 1]);
      await bob.say(thread_id, 'two');
      await alice.say(thread_id, 'three');
      expect(await stands()).toEqual([0, null, 1]);
      expect(await stands(bob)).toEqual([0, null, 2]);
      await alice.ok('ack_read', { thread_id, last_read_seq: 1 });
      expect(await stands()).toEqual([1, own.message_id, 1]);
      await bob.ok('ack_read', { thread_id, last_read_seq: 3 });
      expect((await stands(bob))[2]).toBe(0);
      const seen = await scene
        .as('ann', { workspace, role: 'operator' })
        .ok('get_agent', { of_agent: 'alice' });
      expect(seen.unread).toBe(1);
    },
  );

  test('[HUB-M10] threads in which only the caller spoke are passed over page by page, and the others are all found', async () => {
    const [alice, bob] = ['alice', 'bob'].map((name) => scene.as(name, { workspace: 'passed-over' }));
    const wanted: string[] = [];
    for (let i = 0; i < 12; i++) {
      const thread_id = await alice!.thread('bob');
      await alice!.say(thread_id, 'mine');
      if (i % 4 !== 0) continue;
      await bob!.say(thread_id, 'yours');
      wanted.unshift(thread_id);
    }
    const found: string[] = [];
    for (let before: string | undefined; ;) {
      const page = await alice!.ok('list_threads', { unread: true, limit: 2, ...(before && { before }) });
      found.push(...page.threads.map(({ thread_id }) => thread_id));
      if (page.next_before === null) break;
      before = page.next_before;
    }
    expect(found).toEqual(wanted);
  });
});

describe('lists', () => {
  const NAMES = ['ada', 'bea', 'cleo', 'dora', 'eve', 'fay', 'gil'];

  test.each(faces)('[R10] agents and sessions come in pages over $name, each once', async (face) => {
    const workspace = `lists-${face.name.replaceAll(/\W/g, '')}`;
    const as = (name: string) => scene.as(name, { face, workspace });
    for (const name of NAMES)
      await as(name).ok('heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
    const reader = as('ada');
    const agents: string[] = [];
    const sizes: number[] = [];
    let after: string | undefined;
    do {
      const place = after === undefined ? {} : { after };
      const page: OutputOf<'list_agents'> = await reader.ok('list_agents', { limit: 3, ...place });
      agents.push(...page.agents.map(({ agent_id }) => agent_id));
      sizes.push(page.agents.length);
      after = page.next_after ?? undefined;
    } while (after !== undefined);
    expect(agents).toEqual(NAMES);
    expect(sizes).toEqual([3, 3, 1]);
    const first = await reader.ok('list_sessions', { limit: 5 });
    expect(first.sessions.map(({ agent_id }) => agent_id)).toEqual(NAMES.slice(0, 5));
    const rest = await reader.ok('list_sessions', { limit: 5, after: first.next_after ?? '' });
    expect(rest.sessions.map(({ agent_id }) => agent_id)).toEqual(NAMES.slice(5));
    expect(rest.next_after).toBeNull();
    const whole = await reader.ok('list_agents', {});
    expect([whole.agents.length, whole.next_after]).toEqual([NAMES.length, null]);
    const offline = await reader.ok('list_agents', { state: 'offline', limit: 2 });
    expect(offline).toEqual({ agents: [], next_after: null });
  });

  test('[HUB-E4] what an agent has not read is told as it stands after every post, acknowledgement and farewell', async () => {
    const workspace = 'lists-unread';
    const [ann, bob] = [scene.as('ann', { workspace }), scene.as('bob', { workspace })];
    await bob.ok('heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
    const unread = async (): Promise<number> => (await ann.ok('get_agent', { of_agent: 'bob' })).unread;
    const { thread_id } = await ann.ok('create_thread', { title: 'one', participants: ['bob'] });
    const post = (who: typeof ann) => who.ok('post_message', { schema_version: 1, thread_id, body: 'x' });
    expect(await unread()).toBe(0);
    await post(ann);
    expect(await unread()).toBe(1);
    await post(bob);
    await post(ann);
    expect(await unread()).toBe(2);
    await bob.ok('ack_read', { thread_id, last_read_seq: 1 });
    expect(await unread()).toBe(1);
    await bob.ok('ack_read', { thread_id, last_read_seq: 3 });
    expect(await unread()).toBe(0);
    await post(ann);
    expect(await unread()).toBe(1);
    await bob.ok('control_thread', { thread_id, control: { leave: true } });
    expect(await unread()).toBe(0);
  });
});
