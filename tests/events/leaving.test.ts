import { describe, expect, test } from 'vitest';

import { type Participant, useHub } from '../harness/use-hub.ts';
import { bridgeFaces, readEvents } from './events-driver.ts';
import { openFrames } from './stream-reader.ts';

const scene = useHub();

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
      expect((await who.ok('list_threads', {})).threads.map((one) => one.thread_id)).not.toContain(thread_id);
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
