import { describe, expect, test } from 'vitest';

import { recordOf } from '../harness/stored-record.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { bridgeFaces, readEvents } from './events-driver.ts';

const scene = useHub();

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
