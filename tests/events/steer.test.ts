import { describe, expect, test } from 'vitest';

import { type Participant, useHub } from '../harness/use-hub.ts';
import { bridgeFaces, readEvents } from './events-driver.ts';

const scene = useHub();

describe.each(bridgeFaces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });
  const human = (): Participant => as('user', 'operator');
  const steer = (who: Participant, thread_id: string, control: unknown) =>
    who.ok('control_thread', { thread_id, control: control as never });

  test('[BRIDGE-7] [C-BRIDGE-01] a muted participant is told so, and may listen; unmute restores', async () => {
    const user = human();
    const [p, q] = [as('p'), as('q')];
    const thread_id = await user.thread('p', 'q');
    await steer(user, thread_id, { mute: { targets: ['p'], mode: 'hard' } });
    const refusal = await p.refused(
      'post_message',
      { thread_id, schema_version: 1, body: 'hello' },
      'FORBIDDEN',
    );
    expect(refusal.message).toContain('you are muted in this thread');
    expect(refusal.details).toMatchObject({ reason: 'muted' });
    await p.refused('assign_task', { thread_id, to: 'q', body: 'do it' }, 'FORBIDDEN');
    await p.refused('control_thread', { thread_id, control: { prod: ['q'] } }, 'FORBIDDEN');
    await p.ok('set_presence', { thread_id, state: 'listening' });
    await p.ok('read_messages', { thread_id });
    await q.say(thread_id, 'others may');
    await user.say(thread_id, 'and so may I');
    expect(await user.ok('get_thread', { thread_id })).toMatchObject({ muted: ['p'] });
    const { participants } = await user.ok('list_presence', { thread_id });
    expect(participants.map(({ agent_id, muted }) => [agent_id, muted])).toEqual([
      ['user', false],
      ['p', true],
      ['q', false],
    ]);
    await steer(user, thread_id, { unmute: { targets: ['p'] } });
    await p.say(thread_id, 'here I am');
    expect(await user.ok('get_thread', { thread_id })).not.toHaveProperty('muted');
  });

  test('[BRIDGE-8] [C-BRIDGE-02] a paused thread takes the words of people only, until it is resumed', async () => {
    const user = human();
    const speakers = [as('a'), as('chief', 'orchestrator')];
    const thread_id = await user.thread('a', 'chief');
    await steer(user, thread_id, { pause: { on: true } });
    for (const agent of speakers) {
      const refusal = await agent.refused(
        'post_message',
        { thread_id, schema_version: 1, body: 'x' },
        'FORBIDDEN',
      );
      expect(refusal.message).toContain('the thread is paused');
      expect(refusal.details).toMatchObject({ reason: 'paused' });
      await agent.ok('set_presence', { thread_id, state: 'listening' });
    }
    await user.say(thread_id, 'only I speak');
    expect(await user.ok('get_thread', { thread_id })).toMatchObject({ paused: true });
    await steer(user, thread_id, { pause: { on: false } });
    for (const agent of speakers) await agent.say(thread_id, 'we speak again');
    expect(await user.ok('get_thread', { thread_id })).not.toHaveProperty('paused');
  });

  test('[BRIDGE-6] [C-BRIDGE-03] targets that are unknown, oneself, none, all or no list are refused', async () => {
    const user = human();
    const thread_id = await user.thread('p');
    const bad: [unknown, string][] = [
      [{ mute: { targets: ['ghost'] } }, 'mute.targets'],
      [{ mute: { targets: ['user'] } }, 'mute.targets'],
      [{ mute: { targets: [] } }, 'mute.targets'],
      [{ mute: { targets: ['all'] } }, 'mute.targets.0'],
      [{ mute: { targets: 'p' } }, 'mute.targets'],
      [{ mute: { targets: ['p'], mode: 'soft' } }, 'mute.mode'],
      [{ mute: { targets: ['p'], until: 'noon' } }, 'mute'],
      [{ unmute: { targets: ['ghost'] } }, 'unmute.targets'],
      [{ prod: ['ghost'] }, 'prod'],
      [{ prod: 'p' }, 'prod'],
      [{ pause: true }, 'pause'],
      [{ done: 'yes' }, 'done'],
      [{ discussion: { allow_agent_mentions: true } }, 'discussion.on'],
      [{ invited_auto: {} }, 'invited_auto.on'],
      [{ invite: { participant_id: 'all' } }, 'invite.participant_id'],
      [{ policy: { threshold: 0 } }, 'policy.threshold'],
    ];
    await scene.unchanged(async () => {
      for (const [control, field] of bad) {
        const { details } = await user.refused('control_thread', { thread_id, control }, 'VALIDATION_ERROR');
        const prefix = face.name === 'events' ? 'content' : 'control';
        expect(details['field']).toBe(`${prefix}.${field}`);
      }
    });
  });

  test('[BRIDGE-6] [C-BRIDGE-04] only people and orchestrators steer: state and log stay as they are', async () => {
    const user = human();
    const [p, q] = [as('p'), as('q')];
    const thread_id = await user.thread('p', 'q');
    await steer(user, thread_id, { mute: { targets: ['p'] } });
    const before = await user.ok('get_thread', { thread_id });
    const tries: [Participant, unknown][] = [
      [p, { unmute: { targets: ['p'] } }],
      [q, { mute: { targets: ['user'] } }],
      [q, { pause: { on: true } }],
      [q, { done: true }],
      [q, { ttl_seconds: 60 }],
      [q, { discussion: { on: true } }],
      [q, { invited_auto: { on: true } }],
      [q, { invite: { participant_id: 'friend' } }],
      [q, { policy: { mode: 'permissive' } }],
    ];
    await scene.unchanged(async () => {
      for (const [who, control] of tries) {
        const error = await who.refused('control_thread', { thread_id, control }, 'INSUFFICIENT_AUTHORITY');
        expect(error.message).toContain('only an operator or orchestrator');
      }
      await as('watcher', 'observer').refused(
        'control_thread',
        { thread_id, control: { prod: ['q'] } },
        'FORBIDDEN',
      );
      await as('stranger').refused('control_thread', { thread_id, control: { prod: ['q'] } }, 'FORBIDDEN');
    });
    expect(await user.ok('get_thread', { thread_id })).toEqual(before);
    await steer(as('chief', 'orchestrator'), thread_id, { unmute: { targets: ['p'] } });
    await p.say(thread_id, 'unmuted by the orchestrator');
  });

  test('[BRIDGE-6] [C-BRIDGE-05] an unknown verb, two verbs or no verb in a content are refused and change nothing', async () => {
    const user = human();
    const thread_id = await user.thread('p');
    await scene.unchanged(async () => {
      for (const control of [
        { poke: ['p'] },
        { pause: { on: true }, done: true },
        {},
        'pause',
        null,
        [{ done: true }],
        { __proto__: { done: true } },
        { toString: true },
      ])
        await user.refused('control_thread', { thread_id, control }, 'VALIDATION_ERROR');
    });
    expect(await user.ok('get_thread', { thread_id })).not.toHaveProperty('done');
  });

  test('[BRIDGE-1] [BRIDGE-6] [C-BRIDGE-05] a control without content stands in the log and changes nothing', async () => {
    const [user, p] = [human(), as('p')];
    const thread_id = await user.thread('p');
    const { message_id } = await user.say(thread_id, 'hello');
    const before = await user.ok('get_thread', { thread_id });
    const bare = await p.ok('control_thread', {
      thread_id,
      to: 'user',
      in_reply_to: message_id,
      tags: ['seen'],
    });
    expect(bare.invokes).toBeUndefined();
    const {
      last_seq,
      updated_at: _at,
      unread: _unread,
      ...after
    } = await user.ok('get_thread', { thread_id });
    expect([last_seq, after]).toEqual([2, expect.objectContaining(after)]);
    expect(before).toMatchObject(after);
    const { events } = await readEvents(scene.hub.url, user.token, thread_id, '?since_seq=1');
    expect(events).toEqual([
      {
        id: bare.message_id.replace('msg_', ''),
        ts: bare.created_at,
        thread: thread_id,
        type: 'control',
        from: 'p',
        to: 'user',
        meta: { seq: 2, kind: 'system', reply_to: message_id.replace('msg_', ''), tags: ['seen'] },
      },
    ]);
    const advice = await user.ok('should_respond', { thread_id, message_id: bare.message_id });
    expect(advice).toMatchObject({ respond: false, rule: 'not_conversation' });
    await p.refused('control_thread', { thread_id, to: 'ghost' }, 'VALIDATION_ERROR');
    await p.refused('control_thread', { thread_id, in_reply_to: 'msg_unknown' }, 'NOT_FOUND');
    await user.ok('control_thread', { thread_id, control: { mute: { targets: ['p'] } } });
    await p.refused('control_thread', { thread_id }, 'FORBIDDEN');
    // Words do not slip past a mute as tags.
    await p.refused('set_presence', { thread_id, state: 'idle', tags: ['psst'] }, 'FORBIDDEN');
  });

  test('[BRIDGE-6] [BRIDGE-9] every control is stored once and folded into the thread', async () => {
    const user = human();
    const thread_id = await user.thread('p');
    const controls = [
      { discussion: { on: true } },
      { discussion: { on: true, allow_agent_mentions: false } },
      { invited_auto: { on: true } },
      { policy: { mode: 'conservative', threshold: 3 } },
      {
        invite: {
          participant_id: 'codex-1',
          profile: { client: 'codex', model: 'gpt', roles: ['planner'], nickname: 'Cody' },
        },
      },
      { profile: { client: 'cli', model: 'human', nickname: 'boss' } },
      { prod: ['p', 'codex-1'] },
      { ttl_seconds: 600 },
      { done: true },
    ] as const;
    const seen: unknown[] = [];
    for (const control of controls) {
      const { seq } = await steer(user, thread_id, control);
      seen.push(seq);
      if ('discussion' in control)
        expect((await user.ok('get_thread', { thread_id })).discussion).toEqual({
          on: true,
          allow_agent_mentions: !('allow_agent_mentions' in control.discussion),
        });
    }
    expect(seen).toEqual(controls.map((_, i) => i + 1));
    const { messages } = await user.ok('read_messages', { thread_id });
    expect(messages.map(({ kind, metadata }) => [kind, metadata?.['control']])).toEqual(
      controls.map((control) => ['system', control]),
    );
    const thread = await user.ok('get_thread', { thread_id });
    const ttl = messages.find(({ metadata }) => 'ttl_seconds' in Object(metadata?.['control']));
    expect(thread).toMatchObject({
      participants: ['user', 'p', 'codex-1'],
      invited_auto: true,
      policy: { mode: 'conservative', threshold: 3 },
      prodded: ['p', 'codex-1'],
      done: true,
      expires_at: new Date(Date.parse(ttl?.created_at ?? '') + 600_000).toISOString(),
      profiles: { 'codex-1': { nickname: 'Cody' }, user: { nickname: 'boss' } },
    });
    await steer(user, thread_id, { done: false });
    const after = await user.ok('get_thread', { thread_id });
    expect(after).not.toHaveProperty('done');
    expect(after).not.toHaveProperty('expires_at');
    await as('p').say(thread_id, 'I heard the prod');
    expect((await user.ok('get_thread', { thread_id })).prodded).toEqual(['codex-1']);
  });

  test('[BRIDGE-6] a closed thread takes no control, and the same key gives one control', async () => {
    const user = human();
    const thread_id = await user.thread('p');
    const keyed = { thread_id, control: { prod: ['p'] }, idempotency_key: `once over ${face.name}` };
    const first = await user.ok('control_thread', keyed);
    const { created_at: _first, ...answer } = first;
    expect(await user.ok('control_thread', keyed)).toMatchObject(answer);
    expect((await user.ok('get_thread', { thread_id })).last_seq).toBe(1);
    await user.refused('control_thread', { ...keyed, control: { done: true } }, 'IDEMPOTENCY_CONFLICT');
    await user.ok('update_thread_status', { thread_id, status: 'closed', reason: 'over' });
    await user.refused('control_thread', { thread_id, control: { pause: { on: true } } }, 'CONFLICT');
    await user.refused('set_presence', { thread_id, state: 'thinking', persist: true }, 'CONFLICT');
    await user.ok('set_presence', { thread_id, state: 'thinking' });
  });
});
