import { describe, expect, test } from 'vitest';

import { type Participant, useHub } from '../harness/use-hub.ts';
import { bridgeFaces, readEvents } from './events-driver.ts';

const scene = useHub();

describe.each(bridgeFaces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });
  const open = (who: Participant, thread_id: string, more = {}) =>
    who.ok('open_side_channel', { thread_id, title: 'the detail', purpose: 'to find the leak', ...more });

  test('[BRIDGE-17] [C-BRIDGE-17] a side channel is seen by all of the main thread, whatever it asks for', async () => {
    const [alice, bob, carol] = [as('alice'), as('bob'), as('carol')];
    const main = await alice.thread('bob', 'carol');
    const made = await open(alice, main, { participants: ['bob'], private: true, visibility: 'private' });
    const side = made.thread_id;
    expect(made.main_thread_id).toBe(main);
    await alice.say(side, 'a very rare quokka');
    for (const who of [alice, bob, carol]) {
      expect((await who.ok('get_thread', { thread_id: main })).side_channels).toMatchObject([
        { thread_id: side, title: 'the detail', purpose: 'to find the leak', owner: 'alice' },
      ]);
      expect(await who.ok('get_thread', { thread_id: side })).toMatchObject({
        side_of: main,
        participants: ['alice', 'bob'],
      });
      expect((await who.ok('read_messages', { thread_id: side })).messages).toHaveLength(1);
      await expect
        .poll(async () => (await who.ok('search_messages', { query: 'quokka', thread_id: side })).hits.length)
        .toBe(1);
      expect((await readEvents(scene.hub.url, who.token, side)).events).toHaveLength(2);
    }
    await as('stranger').refused('read_messages', { thread_id: side }, 'FORBIDDEN');
    const found = await as('stranger').ok('search_messages', { query: 'quokka' });
    expect(found.hits).toEqual([]);
    await carol.refused('post_message', { thread_id: side, schema_version: 1, body: 'me too' }, 'FORBIDDEN');
    await alice.ok('control_thread', { thread_id: side, control: { invite: { participant_id: 'carol' } } });
    await carol.say(side, 'now I may');

    const summary = 'it was the cache';
    await carol.refused('close_side_channel', { thread_id: side, summary }, 'INSUFFICIENT_AUTHORITY');
    const closed = await alice.ok('close_side_channel', { thread_id: side, summary });
    const { events } = await readEvents(scene.hub.url, carol.token, main, '?since_seq=0');
    expect(events).toMatchObject([
      {
        type: 'control',
        from: 'alice',
        content: { 'side.opened': { side_id: side, title: 'the detail', purpose: 'to find the leak' } },
      },
      {
        type: 'control',
        from: 'alice',
        content: { 'side.closed': { side_id: side, summary, title: 'the detail' } },
      },
    ]);
    expect([made.link_message_id, closed.summary_message_id]).toEqual(events.map(({ id }) => `msg_${id}`));
    const later = await open(bob, main, { title: 'another' });
    for (const who of [alice, bob, carol])
      expect((await who.ok('get_thread', { thread_id: main })).side_channels).toEqual([
        expect.objectContaining({ thread_id: later.thread_id, title: 'another', owner: 'bob' }),
        {
          thread_id: side,
          title: 'the detail',
          owner: 'alice',
          opened_at: expect.any(String) as string,
          closed_at: expect.any(String) as string,
        },
      ]);
    const other = await as('carol').thread('alice');
    expect(await carol.ok('get_thread', { thread_id: other })).not.toHaveProperty('side_channels');
    expect(await carol.ok('get_thread', { thread_id: side })).toMatchObject({
      status: 'closed',
      side_of: main,
    });
    await alice.refused('post_message', { thread_id: side, schema_version: 1, body: 'late' }, 'CONFLICT');
  });

  test('[BRIDGE-17] a side channel ends once, with a summary, and not by another door', async () => {
    const [user, alice] = [as('user', 'operator'), as('alice')];
    const main = await user.thread('alice');
    const { thread_id: side } = await open(alice, main);
    const status = (to: string) => ({ thread_id: side, status: to, reason: 'x' });
    const refusal = await user.refused('update_thread_status', status('closed'), 'CONFLICT');
    expect(refusal.message).toContain('close_side_channel');
    const finding = { kind: 'event', metadata: { event_type: 'finding_reported' } } as const;
    // A worker cannot close what is disputed, nor can it here.
    await scene.as('alice').say(side, 'a finding', finding);
    await alice.refused('close_side_channel', { thread_id: side, summary: 'x' }, 'INSUFFICIENT_AUTHORITY');
    await user.ok('close_side_channel', { thread_id: side, summary: 'so be it' });
    await user.refused('close_side_channel', { thread_id: side, summary: 'again' }, 'CONFLICT');
    await user.refused('update_thread_status', status('active'), 'CONFLICT');
    expect((await user.ok('get_thread', { thread_id: main })).last_seq).toBe(2);
    await user.refused('close_side_channel', { thread_id: main, summary: 'no side' }, 'CONFLICT');
  });

  test('[BRIDGE-17] who may not speak opens none; strangers and nests are refused; one key opens one', async () => {
    const [user, alice] = [as('user', 'operator'), as('alice')];
    const main = await user.thread('alice', 'bob');
    const aside = { thread_id: main, title: 't', purpose: 'p' };
    await alice.refused('open_side_channel', { ...aside, participants: ['ghost'] }, 'VALIDATION_ERROR');
    await as('stranger').refused('open_side_channel', aside, 'FORBIDDEN');
    await user.ok('control_thread', { thread_id: main, control: { mute: { targets: ['alice'] } } });
    await alice.refused('open_side_channel', aside, 'FORBIDDEN');
    await user.ok('control_thread', { thread_id: main, control: { unmute: { targets: ['alice'] } } });
    const key = { ...aside, idempotency_key: `one over ${face.name}` };
    const first = await alice.ok('open_side_channel', key);
    expect(await alice.ok('open_side_channel', key)).toEqual(first);
    await alice.refused('open_side_channel', { ...aside, thread_id: first.thread_id }, 'CONFLICT');
    expect((await user.ok('get_thread', { thread_id: main })).side_channels).toHaveLength(1);
  });
});
