import { expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { dial } from '../ws/live-client.ts';
import type { Event } from './events-driver.ts';

const scene = useHub();

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
