import { describe, expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { recordOf } from '../harness/stored-record.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { dial } from '../ws/live-client.ts';
import { bridgeFaces, type Event, readEvents } from './events-driver.ts';
import { openFrames, presences } from './stream-reader.ts';

const scene = useHub();

describe('the life of a conversation', () => {
  describe.each(bridgeFaces)('over $name', (face) => {
    const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });
    const human = (): Participant => as('user', 'operator');

    test('[BRIDGE-15] [C-BRIDGE-10] thread.created comes first, each rename is an event, the title is the last', async () => {
      const [alice, bob] = [as('alice'), as('bob')];
      const thread_id = await alice.thread('bob');
      for (const title of ['second name', 'third name']) {
        const renamed = await alice.ok('rename_thread', { thread_id, title });
        expect(renamed).toMatchObject({ thread_id, title });
      }
      await bob.refused('rename_thread', { thread_id, title: 'mine' }, 'INSUFFICIENT_AUTHORITY');
      await as('user', 'operator').ok('rename_thread', { thread_id, title: 'the person’s name' });
      expect((await bob.ok('get_thread', { thread_id })).title).toBe('the person’s name');
      const { events } = await readEvents(scene.hub.url, bob.token, thread_id);
      expect(events.map(({ meta }) => meta.seq)).toEqual([0, 1, 2, 3]);
      expect(events[0]).toMatchObject({
        type: 'control',
        from: 'alice',
        content: { 'thread.created': { title: 'a thread', participants: ['alice', 'bob'] } },
      });
      expect(events.slice(1).map(({ type, content }) => [type, content])).toEqual([
        ['control', { 'thread.renamed': { from: 'a thread', title: 'second name' } }],
        ['control', { 'thread.renamed': { from: 'second name', title: 'third name' } }],
        ['control', { 'thread.renamed': { from: 'third name', title: 'the person’s name' } }],
      ]);
      // The index is the log folded anew: doctor says so of every thread.
      expect(await (await recordOf(scene.hub.data)).check()).toMatchObject({ ok: true, index: 'ok' });
    });

    test('[BRIDGE-3] [BRIDGE-4] a thread starts empty and its people are invited, with their profiles on record', async () => {
      const user = human();
      const thread_id = await user.thread();
      const late = as('late');
      await late.refused('read_messages', { thread_id }, 'FORBIDDEN');
      const profile = { client: 'codex', model: 'gpt-5.2-codex', roles: ['planner'], nickname: 'Late' };
      const { invokes } = await user.ok('control_thread', {
        thread_id,
        control: { invite: { participant_id: 'late', profile } },
      });
      expect(invokes).toEqual(['late']);
      await late.say(thread_id, 'thank you');
      expect((await late.ok('list_threads', {})).threads.map((thread) => thread.thread_id)).toContain(
        thread_id,
      );
      const thread = await late.ok('get_thread', { thread_id });
      expect(thread).toMatchObject({ participants: ['user', 'late'], profiles: { late: profile } });
      expect((await late.ok('list_presence', { thread_id })).participants).toMatchObject([
        { agent_id: 'user', state: 'offline' },
        { agent_id: 'late', state: 'offline', profile },
      ]);
    });

    test('[BRIDGE-4] [C-BRIDGE-15] profiles are bounded, and a nickname cannot forge a line', async () => {
      const user = human();
      const thread_id = await user.thread('alice');
      const invite = (profile: unknown) => ({
        thread_id,
        control: { invite: { participant_id: 'bob', profile } },
      });
      await scene.unchanged(async () => {
        for (const profile of [
          { roles: 'planner' },
          { roles: [1] },
          { roles: Array(17).fill('r') },
          { client: 'x'.repeat(65) },
          { model: 'x'.repeat(129) },
          { nickname: 'a\nb' },
          { nickname: 'a\u202eb' },
          { nickname: '\u001b[31m' },
          { nickname: '' },
          { nickname: 'x'.repeat(65) },
          { nickname: 'all' },
          { nickname: 'ALICE' },
          { colour: 'red' },
          'codex',
        ])
          await user.refused('control_thread', invite(profile), 'VALIDATION_ERROR');
        const big = await user.call('control_thread', invite({ client: 'x'.repeat(1_000_000) }));
        expect(big.error?.code).toBe('VALIDATION_ERROR');
      });
      const strange = { client: 'line\nbreak', model: '\u001b[31m', roles: ['\u202e', 'ok'] };
      await user.ok('control_thread', invite(strange) as never);
      expect((await user.ok('get_thread', { thread_id })).profiles?.['bob']).toEqual(strange);
    });

    test('[BRIDGE-16] [BRIDGE-2] everyone writes under their own name, and nothing that was written is rewritten', async () => {
      const [user, bot] = [human(), as('summary-bot', 'orchestrator')];
      const thread_id = await user.thread('summary-bot');
      await user.say(thread_id, 'first');
      const before = (await user.ok('read_messages', { thread_id })).messages;
      for (const claim of [{ sender_agent_id: 'user' }, { agent_id: 'user' }]) {
        const input = { thread_id, schema_version: 1, body: 'not me', ...claim };
        if (face.name !== 'events') await bot.refused('post_message', input, 'CLAIM_MISMATCH');
      }
      await bot.say(thread_id, 'summary: one message', { metadata: { tags: ['summary'] } });
      await bot.ok('control_thread', { thread_id, control: { prod: ['user'] } });
      await bot.ok('rename_thread', { thread_id, title: 'named by a bot' });
      const after = (await user.ok('read_messages', { thread_id })).messages;
      expect(after.slice(0, 1)).toEqual(before);
      expect(after.slice(1).map(({ sender_agent_id }) => sender_agent_id)).toEqual(
        Array(3).fill('summary-bot'),
      );
    });
  });
});

describe('one entry', () => {
  async function eventsOf(who: Participant, threadId: string): Promise<Event[]> {
    const { text } = await send(`${scene.hub.url}/v1/threads/${threadId}/events?since_seq=0`, {
      headers: { authorization: `Bearer ${who.token}` },
    });
    return (JSON.parse(text) as { events: Event[] }).events;
  }

  test('[BRIDGE-1] [LIVE-7] a message, a thread event and a live event are one entry with one seq', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread('bob');
    const bob = await dial(scene.hub.url, 'bob', scene.as('bob').token);
    await bob.hub('follow', { thread_id, since_seq: 0 });
    const { message_id, seq } = await alice.say(thread_id, 'seen by all');
    await bob.hub('report_event', { thread_id, event_type: 'task_completed', data: { message: 'built' } });

    const { messages } = await alice.ok('read_messages', { thread_id });
    const events = await eventsOf(alice, thread_id);
    const live = await Promise.all(
      messages.map((message) => bob.until(({ payload }) => payload?.data?.seq === message.seq)),
    );
    expect(messages.map((message) => [message.seq, message.body])).toEqual([
      [seq, 'seen by all'],
      [seq + 1, 'built'],
    ]);
    expect(messages[0]?.message_id).toBe(message_id);
    expect(events.map(({ id, meta }) => [`msg_${id}`, meta.seq])).toEqual(
      messages.map((message) => [message.message_id, message.seq]),
    );
    expect(events.map(({ from, content }) => [from, content])).toEqual([
      ['alice', 'seen by all'],
      ['bob', 'built'],
    ]);
    expect(live.map(({ payload }) => [payload.eventType, payload.agentId, payload.data.message])).toEqual([
      ['info', 'alice', messages[0]],
      ['task_completed', 'bob', messages[1]],
    ]);
  });
});

describe('who is connected', () => {
  const patience = { timeout: 60_000 };

  const stateOf = async (who: Participant, thread_id: string, agent: string): Promise<string | undefined> =>
    (await who.ok('list_presence', { thread_id })).participants.find(({ agent_id }) => agent_id === agent)
      ?.state;

  test('[BRIDGE-10] an open stream of a thread is not offline, and others hear of it come and go', async () => {
    const [alice, bob] = [scene.as('alice'), scene.as('bob')];
    const thread_id = await alice.thread('bob');
    const path = `${scene.hub.url}/v1/threads/${thread_id}/stream`;
    const watching = await openFrames(path, alice.token);
    expect(await stateOf(alice, thread_id, 'bob')).toBe('offline');
    const [first, second] = [await openFrames(path, bob.token), await openFrames(path, bob.token)];
    await expect.poll(() => stateOf(alice, thread_id, 'bob'), patience).toBe('listening');
    await expect.poll(() => presences(watching).at(-1), patience).toEqual(['bob', 'listening']);
    // What it says of itself stands above; once that has faded it listens again.
    await bob.ok('set_presence', { thread_id, state: 'typing', ttl_ms: 1_000 });
    expect(await stateOf(alice, thread_id, 'bob')).toBe('typing');
    await expect
      .poll(() => presences(watching).slice(-2), patience)
      .toEqual([
        ['bob', 'typing'],
        ['bob', 'listening'],
      ]);
    await bob.ok('set_presence', { thread_id, state: 'offline' });
    expect(await stateOf(alice, thread_id, 'bob')).toBe('listening');
    first.close();
    await first.ended;
    expect(await stateOf(alice, thread_id, 'bob')).toBe('listening');
    second.close();
    await expect.poll(() => stateOf(alice, thread_id, 'bob'), patience).toBe('offline');
    await expect.poll(() => presences(watching).at(-1), patience).toEqual(['bob', 'offline']);
  });

  test('[BRIDGE-10] whoever is connected by /ws, or follows the workspace, listens in all its threads', async () => {
    const [alice, bob, carol] = [scene.as('alice'), scene.as('bob'), scene.as('carol')];
    const thread_id = await alice.thread('bob', 'carol', 'dave');
    const [socket, stream] = [
      await dial(scene.hub.url, 'bob', bob.token),
      await openFrames(`${scene.hub.url}/v1/stream`, carol.token),
    ];
    const states = () => Promise.all(['bob', 'carol', 'dave'].map((name) => stateOf(alice, thread_id, name)));
    await expect.poll(states, patience).toEqual(['listening', 'listening', 'offline']);
    await socket.close();
    stream.close();
    await expect.poll(states, patience).toEqual(['offline', 'offline', 'offline']);
  });
});

describe('who leaves', () => {
  describe.each(bridgeFaces)('over $name', (face) => {
    const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });
    const steer = (who: Participant, thread_id: string, control: unknown) =>
      who.ok('control_thread', { thread_id, control: control as never });

    test('[BRIDGE-3] [BRIDGE-6] a participant leaves or is removed, on record, and reads and hears no more', async () => {
      const [user, a, b] = [as('user', 'operator'), as('a'), as('b')];
      const thread_id = await user.thread('a', 'b');
      await steer(user, thread_id, { invite: { participant_id: 'a', profile: { nickname: 'Al' } } });
      await steer(user, thread_id, { mute: { targets: ['b'] } });
      await a.ok('set_presence', { thread_id, state: 'typing' });
      const stream = await openFrames(`${scene.hub.url}/v1/threads/${thread_id}/stream`, b.token);
      await expect.poll(() => stream.frames().length, { timeout: 60_000 }).toBeGreaterThan(2);

      await a.refused(
        'control_thread',
        { thread_id, control: { remove: { participant_id: 'b' } } },
        'INSUFFICIENT_AUTHORITY',
      );
      await steer(a, thread_id, { leave: true });
      // Who is muted may not speak; it may go.
      await steer(user, thread_id, { remove: { participant_id: 'b' } });
      await stream.ended;
      expect(stream.text()).toContain('"code":"FORBIDDEN"');
      expect(stream.text()).not.toContain('"remove"');

      expect(await user.ok('get_thread', { thread_id })).toMatchObject({ participants: ['user'] });
      for (const who of [a, b]) {
        await who.refused('read_messages', { thread_id }, 'FORBIDDEN');
        await who.refused('post_message', { thread_id, schema_version: 1, body: 'still here' }, 'FORBIDDEN');
        expect((await who.ok('list_threads', {})).threads.map((one) => one.thread_id)).not.toContain(
          thread_id,
        );
      }
      const { participants } = await user.ok('list_presence', { thread_id });
      expect(participants.map(({ agent_id }) => agent_id)).toEqual(['user']);
      const { events } = await readEvents(scene.hub.url, user.token, thread_id, '?since_seq=2');
      expect(events.map(({ from, content }) => [from, content])).toEqual([
        ['a', { leave: true }],
        ['user', { remove: { participant_id: 'b' } }],
      ]);
      // Nobody is called who has gone; the nickname is free; the way back is an invitation, and a mute still holds.
      expect((await user.say(thread_id, '@a and @b?')).invokes).toBeUndefined();
      await steer(user, thread_id, { invite: { participant_id: 'c', profile: { nickname: 'al' } } });
      for (const name of ['a', 'b']) await steer(user, thread_id, { invite: { participant_id: name } });
      await a.say(thread_id, 'back');
      await b.refused('post_message', { thread_id, schema_version: 1, body: 'me too' }, 'FORBIDDEN');
      expect((await b.ok('read_messages', { thread_id })).messages.length).toBeGreaterThan(6);
    });

    test('[BRIDGE-6] who takes no part cannot leave or be removed; anything but true is no leaving', async () => {
      const [user, boss] = [as('user', 'operator'), as('boss', 'operator')];
      const thread_id = await user.thread('a');
      await scene.unchanged(async () => {
        for (const control of [
          { leave: false },
          { leave: {} },
          { remove: ['a'] },
          { remove: { participant_id: 'all' } },
        ])
          await user.refused('control_thread', { thread_id, control }, 'VALIDATION_ERROR');
        await user.refused(
          'control_thread',
          { thread_id, control: { remove: { participant_id: 'ghost' } } },
          'VALIDATION_ERROR',
        );
        await boss.refused('control_thread', { thread_id, control: { leave: true } }, 'VALIDATION_ERROR');
        await as('stranger').refused('control_thread', { thread_id, control: { leave: true } }, 'FORBIDDEN');
      });
    });
  });
});
