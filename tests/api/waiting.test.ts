import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

describe.each(faces)('over $name', (face) => {
  const as = (agent: string) => scene.as(`${agent}-${faces.indexOf(face)}`, { face });

  test('whoami says whom the token speaks for and how much lies unread', async () => {
    const [anna, ben] = [as('anna'), as('ben')];
    const thread_id = await anna.thread(ben.agent_id);
    await anna.say(thread_id, 'one');
    await ben.say(thread_id, 'my own words count for nobody but others');
    expect(await ben.ok('whoami', {})).toMatchObject({
      agent_id: ben.agent_id,
      workspace_id: 'w1',
      role: 'worker',
      session_id: `${ben.agent_id}-1`,
      read_only: false,
      unread: 1,
      hub: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    });
  });

  test('wait_for_messages without a thread: what is unread first, then what comes, new threads too, never one’s own', async () => {
    const [carla, dan] = [as('carla'), as('dan')];
    const first = await carla.thread(dan.agent_id);
    await carla.say(first, 'unread');
    await dan.say(first, 'own');
    const bodies = ({ messages }: { messages: { body: string }[] }) => messages.map(({ body }) => body);
    const unread = await dan.ok('wait_for_messages', { timeout_ms: 0 });
    expect([bodies(unread), unread.timed_out]).toEqual([['unread'], false]);
    // Nothing comes twice to one who goes on from where it stands.
    const none = await dan.ok('wait_for_messages', { since_seq: unread.next_seq, timeout_ms: 0 });
    expect([bodies(none), none.timed_out]).toEqual([[], true]);
    const waiting = dan.ok('wait_for_messages', { since_seq: none.next_seq, timeout_ms: 20_000 });
    const strange = await carla.thread();
    await carla.say(strange, 'not for dan');
    const fresh = await carla.thread(dan.agent_id);
    await carla.say(fresh, 'in a new thread');
    const heard = await waiting;
    expect([bodies(heard), heard.messages[0]?.thread_id]).toEqual([['in a new thread'], fresh]);
    // Whoever begins again gets what it has not acknowledged, and no more.
    await dan.ok('ack_read', { thread_id: first, last_read_seq: 2 });
    expect(bodies(await dan.ok('wait_for_messages', { timeout_ms: 0 }))).toEqual(['in a new thread']);
    await dan.ok('ack_read', { thread_id: fresh, last_read_seq: 1 });
    expect(bodies(await dan.ok('wait_for_messages', { timeout_ms: 0 }))).toEqual([]);
  });

  test('more unread than a page holds comes page by page, as it is acknowledged', async () => {
    const [eva, fred] = [as('eva'), as('fred')];
    const thread_id = await eva.thread(fred.agent_id);
    for (const body of ['1', '2', '3']) await eva.say(thread_id, body);
    const seen: string[] = [];
    let since_seq = 0;
    for (let i = 0; i < 5; i++) {
      const page = await fred.ok('wait_for_messages', { since_seq, limit: 2, timeout_ms: 0 });
      seen.push(...page.messages.map(({ body }) => body));
      const last = page.messages.at(-1);
      if (last !== undefined) await fred.ok('ack_read', { thread_id, last_read_seq: last.seq });
      since_seq = page.next_seq;
      if (page.timed_out) break;
    }
    expect(seen).toEqual(['1', '2', '3']);
  });
});

test('one who may see all threads hears those it takes part in', async () => {
  const [desk, gina] = [scene.as('desk', { role: 'operator' }), scene.as('gina')];
  const { next_seq } = await desk.ok('wait_for_messages', { timeout_ms: 0 });
  await gina.say(await gina.thread(), 'elsewhere');
  await gina.say(await gina.thread('desk'), 'with the desk');
  const { messages } = await desk.ok('wait_for_messages', { since_seq: next_seq, timeout_ms: 5_000 });
  expect(messages.map(({ body }) => body)).toEqual(['with the desk']);
});
