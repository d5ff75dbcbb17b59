import { describe, expect, test } from 'vitest';

import { type Participant, useHub } from '../harness/use-hub.ts';
import { bridgeFaces, readEvents } from './events-driver.ts';

const scene = useHub();

describe.each(bridgeFaces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });

  test('[BRIDGE-11] a task is for one participant, and its result refers to it', async () => {
    const [chief, a, b] = [as('chief', 'orchestrator'), as('a'), as('b')];
    const thread_id = await chief.thread('a', 'b');
    const task = await chief.ok('assign_task', { thread_id, to: 'a', body: 'look into it' });
    expect(task.invokes).toEqual(['a']);
    const rule = async (who: Participant, message_id: string) =>
      (await who.ok('should_respond', { thread_id, message_id })).rule;
    expect([await rule(a, task.message_id), await rule(b, task.message_id)]).toEqual([
      'task',
      'targeted_elsewhere',
    ]);
    const result = await a.ok('report_result', { thread_id, task: task.message_id, body: 'done' });
    expect(await rule(chief, result.message_id)).toBe('targeted');
    expect(await rule(b, result.message_id)).toBe('targeted_elsewhere');
    const { messages } = await b.ok('read_messages', { thread_id });
    expect(messages).toMatchObject([
      { kind: 'event', body: 'look into it', to: 'a', metadata: { event_type: 'task' } },
      {
        kind: 'event',
        body: 'done',
        to: 'chief',
        in_reply_to: task.message_id,
        metadata: { event_type: 'result' },
      },
    ]);
    expect((await chief.ok('get_message', { thread_id, message_id: task.message_id })).referenced_by).toEqual(
      [result.message_id],
    );
    const { events } = await readEvents(scene.hub.url, b.token, thread_id, '?since_seq=0');
    expect(events).toMatchObject([
      { type: 'task', from: 'chief', to: 'a', content: 'look into it', meta: { seq: 1 } },
      { type: 'result', from: 'a', to: 'chief', content: 'done', meta: { reply_to: events[0]?.id } },
    ]);
  });

  test('[BRIDGE-11] a result may be data: an object there and here, a text to those who read messages', async () => {
    const [chief, a] = [as('chief', 'orchestrator'), as('a')];
    const thread_id = await chief.thread('a', 'b');
    const { message_id: task } = await chief.ok('assign_task', { thread_id, to: 'a', body: 'count them' });
    const output = { count: 3, names: ['x', 'y', 'z'], nested: { ok: true, none: null } };
    const first = await a.ok('report_result', { thread_id, task, output });
    const second = await a.ok('report_result', { thread_id, task, output, to: 'b' });
    const { events } = await readEvents(scene.hub.url, chief.token, thread_id, '?since_seq=1');
    expect(events.map(({ to, content, meta }) => [to, content, meta['reply_to']])).toEqual([
      ['chief', output, task.replace('msg_', '')],
      ['b', output, task.replace('msg_', '')],
    ]);
    const { messages } = await chief.ok('read_messages', { thread_id, since_seq: 1 });
    expect(messages.map(({ message_id, body }) => [message_id, JSON.parse(body)])).toEqual([
      [first.message_id, output],
      [second.message_id, output],
    ]);
    expect(messages[0]?.metadata).toMatchObject({ output });
    await a.refused('report_result', { thread_id, task }, 'VALIDATION_ERROR');
    await a.refused('report_result', { thread_id, task, output: ['x'] }, 'VALIDATION_ERROR');
    await a.refused('report_result', { thread_id, task, output, to: 'ghost' }, 'VALIDATION_ERROR');
  });

  test('[BRIDGE-11] a task for a role is for those who have it', async () => {
    const chief = as('chief', 'orchestrator');
    const thread_id = await chief.thread('a', 'b');
    for (const [name, roles] of [
      ['a', ['planner', 'tester']],
      ['b', ['writer']],
    ] as const)
      await as(name).ok('control_thread', { thread_id, control: { profile: { roles: [...roles] } } });
    const task = await chief.ok('assign_task', { thread_id, role: 'tester', body: 'test it' });
    expect(task.invokes).toEqual(['a']);
    expect(
      (await chief.ok('assign_task', { thread_id, role: 'nobody has this', body: 'x' })).invokes,
    ).toBeUndefined();
    const { events } = await readEvents(scene.hub.url, chief.token, thread_id, '?since_seq=2');
    expect(events[0]).toMatchObject({ type: 'task', to: 'all', meta: { role: 'tester' } });
  });

  test('[BRIDGE-11] a task without one address, and a result without a task, are refused', async () => {
    const chief = as('chief', 'orchestrator');
    const thread_id = await chief.thread('a');
    const { message_id } = await chief.say(thread_id, 'a message is no task');
    await scene.unchanged(async () => {
      await chief.refused('assign_task', { thread_id, body: 'x' }, 'VALIDATION_ERROR');
      await chief.refused('assign_task', { thread_id, to: 'a', role: 'r', body: 'x' }, 'VALIDATION_ERROR');
      await chief.refused('assign_task', { thread_id, to: 'ghost', body: 'x' }, 'VALIDATION_ERROR');
      await chief.refused('assign_task', { thread_id, to: 'all', body: 'x' }, 'VALIDATION_ERROR');
      await chief.refused('report_result', { thread_id, task: message_id, body: 'x' }, 'NOT_FOUND');
      await chief.refused('report_result', { thread_id, task: 'msg_unknown', body: 'x' }, 'NOT_FOUND');
      await chief.refused('report_result', { thread_id, body: 'x' }, 'VALIDATION_ERROR');
    });
  });
});
