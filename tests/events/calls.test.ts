import { describe, expect, test } from 'vitest';

import { faces, v1Driver } from '../harness/call.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { dial } from '../ws/live-client.ts';
import { bridgeFaces } from './events-driver.ts';

const scene = useHub();

const whys = (not_called: readonly { agent: string; why: string }[]): string[] =>
  not_called.map(({ agent, why }) => `${agent} ${why}`);

describe.each(bridgeFaces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });
  const human = (): Participant => as('user', 'operator');
  const steer = (who: Participant, thread_id: string, control: unknown) =>
    who.ok('control_thread', { thread_id, control: control as never });

  test('[BRIDGE-1] [BRIDGE-12] [BRIDGE-14] the answer to every post says who is called, who is not, and why', async () => {
    const [user, a] = [human(), as('a')];
    const two = await a.thread('b');
    const pair = await a.say(two, 'between us');
    expect(pair).toMatchObject({ called: ['b'], not_called: [], invokes: ['b'] });
    expect(await as('b').say(two, 'what says @a?')).toMatchObject({ called: ['a'], not_called: [] });
    expect(await as('b').ok('should_respond', { thread_id: two, message_id: pair.message_id })).toMatchObject(
      { respond: true, rule: 'addressed' },
    );

    const three = await a.thread('b', 'c');
    const plain = await a.say(three, 'who looks?');
    expect(plain.called).toEqual([]);
    expect(plain.invokes).toBeUndefined();
    expect(whys(plain.not_called)).toEqual(['b not_addressed', 'c not_addressed']);
    const mention = await a.say(three, '@b please, or @ghost');
    expect([mention.called, whys(mention.not_called)]).toEqual([
      [],
      ['b discussion_off', 'ghost not_a_participant'],
    ]);
    expect(mention.not_called[0]?.hint).toBe(
      '@b by an agent calls only while discussion is on; address it with `to`',
    );
    expect(mention.not_called[1]?.hint).toContain('a, b, c');
    await steer(user, three, { discussion: { on: true } });
    expect(await a.say(three, '@b please')).toMatchObject({ called: ['b'], not_called: [] });
    expect(await a.say(three, 'you', { to: 'c' })).toMatchObject({ called: ['c'], not_called: [] });

    const prod = await steer(a, three, { prod: ['b'] });
    expect([prod.called, prod.not_called]).toEqual([['b'], []]);
    const none = await steer(user, three, { policy: { mode: 'auto' } });
    expect([none.called, none.not_called]).toEqual([[], []]);
    const task = await user.ok('assign_task', { thread_id: three, to: 'c', body: 'do it' });
    expect([task.called, task.not_called]).toEqual([['c'], []]);
    const idle = await user.ok('assign_task', { thread_id: three, role: 'tester', body: 'do it' });
    expect([idle.called, whys(idle.not_called)]).toEqual([
      [],
      ['a no_such_role', 'b no_such_role', 'c no_such_role'],
    ]);
    await steer(user, three, { mute: { targets: ['b'] } });
    expect(whys((await a.say(three, 'b?', { to: 'b' })).not_called)).toEqual(['b muted']);
    await steer(user, three, { pause: { on: true } });
    expect(whys((await user.say(three, 'c?', { to: 'c' })).not_called)).toEqual(['c paused']);
  });

  test('[HUB-R5] the same key gives the same answer, whatever the thread is by then', async () => {
    const a = as('a');
    const thread_id = await a.thread('b');
    const key = `key-${face.name}`;
    const first = await a.say(thread_id, 'one', { idempotency_key: key });
    await steer(human(), thread_id, { invite: { participant_id: 'c' } });
    const again = await a.say(thread_id, 'one', { idempotency_key: key });
    expect([again.called, again.not_called, again.invokes]).toEqual([['b'], [], ['b']]);
    expect(again.message_id).toBe(first.message_id);
  });

  test('[HUB-E7] [BRIDGE-5] an address that nobody has is refused with the names that exist, and nothing is written', async () => {
    const a = as('a');
    const thread_id = await a.thread('b', 'c');
    await scene.unchanged(async () => {
      const post = { thread_id, schema_version: 1, body: 'x', to: 'ghost' };
      const error = await a.refused('post_message', post, 'VALIDATION_ERROR');
      expect(error.message).toBe('to: ghost is not a participant of this thread; those are a, b, c');
      const task = await a.refused('assign_task', { thread_id, to: 'ghost', body: 'x' }, 'VALIDATION_ERROR');
      expect(task.message).toContain('those are a, b, c');
      const prod = { thread_id, control: { prod: ['b', 'ghost'] } };
      expect((await a.refused('control_thread', prod, 'VALIDATION_ERROR')).message).toContain('a, b, c');
    });
  });
});

test.each(faces)(
  '[HUB-R1] over $name a workflow event is for whom it names; a name that nobody has is told',
  async (face) => {
    const a = scene.as('a', { face });
    const thread_id = await a.thread('b', 'c');
    const event = (event_type: string, more: object) =>
      a.say(thread_id, 'x', { kind: 'event', metadata: { event_type, ...more } });
    expect(await event('re_review_requested', { reviewer: 'b' })).toMatchObject({
      called: ['b'],
      not_called: [],
    });
    expect(await event('work_handed_on', { assignee: 'c' })).toMatchObject({ called: ['c'] });
    const lost = await event('finding_reported', { reviewer: 'ghost' });
    expect([lost.called, whys(lost.not_called)]).toEqual([
      [],
      ['ghost not_a_participant', 'b not_addressed', 'c not_addressed'],
    ]);
    const reported = await a.ok('get_message_evidence', { thread_id, message_id: lost.message_id });
    expect([reported.called, whys(reported.not_called)]).toEqual([[], ['ghost not_a_participant']]);
    expect(reported.not_called[0]?.hint).toContain('a, b, c');
    const { messages } = await a.ok('read_messages', { thread_id });
    expect(messages.map(({ called }) => called)).toEqual([['b'], ['c'], undefined]);
    const report = { thread_id, event_type: 'warning', data: { message: 'disk is full' } } as const;
    expect(await a.ok('report_event', report)).toMatchObject({ called: [] });
    expect(await a.ok('report_event', { event_type: 'warning', data: {} })).toMatchObject({
      called: [],
      not_called: [],
    });
    const chief = scene.as('chief', { role: 'orchestrator', face });
    const task = await chief.ok('assign_task', { thread_id, to: 'b', body: 'do it' });
    const result = { thread_id, task: task.message_id, body: 'done' };
    expect(await scene.as('b', { face }).ok('report_result', result)).toMatchObject({ not_called: [] });
  },
);

test.each(faces)(
  '[HUB-E7] over $name somebody from outside who answers one of two calls that one; who only speaks calls nobody',
  async (face) => {
    const [a, b] = [scene.as('a', { face }), scene.as('b', { face })];
    const thread_id = await a.thread('b');
    const { message_id: in_reply_to } = await b.say(thread_id, 'is this right?');
    const chief = scene.as('chief', { role: 'orchestrator', face });
    expect(await chief.say(thread_id, 'it is', { in_reply_to })).toMatchObject({
      called: ['b'],
      not_called: [],
    });
    const plain = await chief.say(thread_id, 'go on');
    expect([plain.called, whys(plain.not_called)]).toEqual([[], ['a not_addressed', 'b not_addressed']]);
  },
);

test('[LIVE-5] on /ws the answer to a post says it too', async () => {
  const a = scene.as('a', { face: v1Driver });
  const thread_id = await a.thread('b');
  const live = await dial(scene.hub.url, 'a', a.token);
  const answer = await live.hub('post_message', { thread_id, schema_version: 1, body: 'hello' });
  expect(answer).toMatchObject({ called: ['b'], not_called: [] });
  await live.close();
});
