import { describe, expect, test } from 'vitest';

import { type Participant, useHub } from '../harness/use-hub.ts';
import { bridgeFaces } from './events-driver.ts';

const scene = useHub();

describe.each(bridgeFaces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });
  const human = (): Participant => as('user', 'operator');
  const steer = (who: Participant, thread_id: string, control: unknown) =>
    who.ok('control_thread', { thread_id, control: control as never });

  /** Who of these should respond to an entry, as each of them is told. */
  async function advised(thread_id: string, message_id: string, names: readonly string[]) {
    const reported: Record<string, string> = {};
    for (const name of names) {
      const { respond, rule, reason } = await as(name).ok('should_respond', { thread_id, message_id });
      expect(reason).toMatch(/\S/);
      reported[name] = `${respond ? 'yes' : 'no'}: ${rule}`;
    }
    return reported;
  }
  const respondents = (reported: Record<string, string>): string[] =>
    Object.keys(reported).filter((name) => reported[name]?.startsWith('yes'));

  test('[BRIDGE-12] [C-BRIDGE-12] in a large thread only the one who is called responds', async () => {
    const user = human();
    const agents = Array.from({ length: 20 }, (_, i) => `agent-${i + 1}`);
    const thread_id = await user.thread(...agents);
    await steer(user, thread_id, { policy: { mode: 'conservative' } });
    const [a = '', b = ''] = agents;

    const all = await user.say(thread_id, 'what do you think?');
    expect(all.invokes).toBeUndefined();
    expect(respondents(await advised(thread_id, all.message_id, agents))).toEqual([]);

    const one = await user.say(thread_id, 'and you?', { to: a });
    expect(one.invokes).toEqual([a]);
    expect(await advised(thread_id, one.message_id, [a, b])).toEqual({
      [a]: 'yes: targeted',
      [b]: 'no: targeted_elsewhere',
    });

    const prod = await steer(user, thread_id, { prod: [b] });
    expect(prod.invokes).toEqual([b]);
    expect(respondents(await advised(thread_id, prod.message_id, agents))).toEqual([b]);

    const invite = await steer(user, thread_id, { invite: { participant_id: 'c' } });
    expect(invite.invokes).toEqual(['c']);
    expect(respondents(await advised(thread_id, invite.message_id, [...agents, 'c']))).toEqual(['c']);
  });

  test('[BRIDGE-12] [BRIDGE-10] while another is at an answer one waits; of two that began both one goes on', async () => {
    const [user, a, b] = [human(), as('a'), as('b')];
    const thread_id = await user.thread('a', 'b');
    const { message_id } = await user.say(thread_id, 'who knows?');
    const advice = (who: Participant) => who.ok('should_respond', { thread_id, message_id });
    const be = (who: Participant, state: 'typing' | 'thinking' | 'listening') =>
      who.ok('set_presence', { thread_id, state, ttl_ms: 600_000 });
    for (const state of ['typing', 'thinking'] as const) {
      await be(a, state);
      expect(await advice(b)).toMatchObject({ respond: false, rule: 'others_typing', wait_for: ['a'] });
      expect(await advice(a)).toMatchObject({ respond: true, rule: 'small_thread' });
      await be(b, state);
      expect(await advice(b)).toMatchObject({ respond: false, wait_for: ['a'] });
      expect(await advice(a)).toMatchObject({ respond: true });
      await be(a, 'listening');
      expect(await advice(b)).toMatchObject({ respond: true, rule: 'small_thread' });
      await be(b, 'listening');
    }
    // Whoever is called by name does not wait.
    await be(a, 'typing');
    const called = await user.say(thread_id, 'and you?', { to: 'b' });
    const asked = await b.ok('should_respond', { thread_id, message_id: called.message_id });
    expect(asked).toMatchObject({ respond: true, rule: 'targeted' });
  });

  test('[BRIDGE-12] small threads are permissive; the threshold is the thread’s own', async () => {
    const user = human();
    const thread_id = await user.thread('a', 'b', 'c');
    const { message_id } = await user.say(thread_id, 'who knows?');
    const rules = async () => Object.values(await advised(thread_id, message_id, ['a', 'b', 'c']));
    expect(await rules()).toEqual(Array(3).fill('yes: small_thread'));
    await steer(user, thread_id, { policy: { threshold: 3 } });
    expect(await rules()).toEqual(Array(3).fill('no: large_thread'));
    await steer(user, thread_id, { policy: { mode: 'permissive' } });
    expect(await rules()).toEqual(Array(3).fill('yes: small_thread'));
    await steer(user, thread_id, { policy: { mode: 'auto' } });
    expect(await rules()).toEqual(Array(3).fill('yes: small_thread'));
    expect(await user.ok('get_thread', { thread_id })).not.toHaveProperty('policy');
    await as('stranger').refused('should_respond', { thread_id, message_id }, 'FORBIDDEN');
    await as('a').refused(
      'should_respond',
      { thread_id, message_id, participant: 'b' },
      'INSUFFICIENT_AUTHORITY',
    );
    expect(await user.ok('should_respond', { thread_id, message_id, participant: 'b' })).toMatchObject({
      respond: true,
    });
    await as('a').refused('should_respond', { thread_id, message_id: 'msg_unknown' }, 'NOT_FOUND');
  });

  test('[BRIDGE-12] [BRIDGE-18] who is muted, paused, done or out of place is told not to respond', async () => {
    const user = human();
    const a = as('a');
    const thread_id = await user.thread('a');
    const { message_id } = await user.say(thread_id, 'please answer', { to: 'a' });
    const rule = async (who = a) => (await who.ok('should_respond', { thread_id, message_id })).rule;
    expect(await rule()).toBe('targeted');
    const mine = await a.say(thread_id, 'mine');
    expect(await a.ok('should_respond', { thread_id, message_id: mine.message_id })).toMatchObject({
      respond: false,
      rule: 'own_event',
    });
    const steps: [unknown, string][] = [
      [{ mute: { targets: ['a'] } }, 'muted'],
      [{ unmute: { targets: ['a'] } }, 'targeted'],
      [{ pause: { on: true } }, 'paused'],
      [{ pause: { on: false } }, 'targeted'],
      [{ done: true }, 'ended'],
    ];
    for (const [control, expected] of steps) {
      await steer(user, thread_id, control);
      expect(await rule()).toBe(expected);
    }
    expect((await user.say(thread_id, 'after the end', { to: 'a' })).invokes).toBeUndefined();
    await steer(user, thread_id, { done: false });
    expect((await user.say(thread_id, 'it goes on', { to: 'a' })).invokes).toEqual(['a']);
    expect(await rule(as('watcher', 'orchestrator'))).toBe('not_a_participant');
    await user.ok('update_thread_status', { thread_id, status: 'closed', reason: 'over' });
    expect(await rule()).toBe('closed');
  });

  test('[BRIDGE-13] [C-BRIDGE-13] invited_auto: a person’s word to all wakes each of the invited once', async () => {
    const user = human();
    const thread_id = await user.thread('a', 'b', 'b');
    await steer(user, thread_id, { invite: { participant_id: 'c' } });
    expect((await user.say(thread_id, 'nobody is woken yet')).invokes).toBeUndefined();
    await steer(user, thread_id, { invited_auto: { on: true } });
    const all = await user.say(thread_id, 'everybody?');
    expect(all.invokes).toEqual(['a', 'b', 'c']);
    expect(await advised(thread_id, all.message_id, ['a', 'b', 'c'])).toEqual({
      a: 'yes: invited_auto',
      b: 'yes: invited_auto',
      c: 'yes: invited_auto',
    });
    expect((await user.say(thread_id, '@b alone')).invokes).toEqual(['b']);
    expect((await user.say(thread_id, 'to one', { to: 'c' })).invokes).toEqual(['c']);
    expect((await as('a').say(thread_id, 'an agent speaks')).invokes).toBeUndefined();
    await steer(user, thread_id, { mute: { targets: ['b'] } });
    expect((await user.say(thread_id, 'but b is muted')).invokes).toEqual(['a', 'c']);
    await steer(user, thread_id, { invited_auto: { on: false } });
    expect((await user.say(thread_id, 'off again')).invokes).toBeUndefined();
  });

  test('[BRIDGE-14] [BRIDGE-9] [BRIDGE-12] an agent’s mention calls only under discussion', async () => {
    const user = human();
    const a = as('a');
    const thread_id = await user.thread('a', 'b');
    const mention = () => a.say(thread_id, 'what says @b?');
    const first = await mention();
    expect(first.invokes).toBeUndefined();
    expect(await advised(thread_id, first.message_id, ['b'])).toEqual({
      b: 'no: mentioned_without_discussion',
    });
    await steer(user, thread_id, { discussion: { on: true } });
    const second = await mention();
    expect(second.invokes).toEqual(['b']);
    expect(await advised(thread_id, second.message_id, ['b'])).toEqual({ b: 'yes: mentioned' });
    await steer(user, thread_id, { discussion: { on: true, allow_agent_mentions: false } });
    expect((await mention()).invokes).toBeUndefined();
    await steer(user, thread_id, { discussion: { on: false } });
    expect((await mention()).invokes).toBeUndefined();
    expect((await user.say(thread_id, 'a person may: @b')).invokes).toEqual(['b']);
  });

  test('[BRIDGE-14] [C-BRIDGE-14] a mention is a whole word outside code, addresses and paths', async () => {
    const user = human();
    const thread_id = await user.thread('bob', 'agent.7', 'constructor');
    await steer(user, thread_id, {
      invite: { participant_id: 'codex-1', profile: { nickname: 'Кот' } },
    });
    const calls: [string, string[]][] = [
      ['@bob', ['bob']],
      ['@BOB!', ['bob']],
      ['(@bob), and @agent.7.', ['bob', 'agent.7']],
      ['ask @bob:\nplease', ['bob']],
      ['@bob’s turn; @bob again', ['bob']],
      ['по-русски: @кот', ['codex-1']],
      ['`@bob', ['bob']],
      ['`@bob` is code', []],
      ['``a ` @bob`` too', []],
      ['```\n@bob\n```', []],
      ['~~~\n@bob', []],
      ['mail bob@bob.example or x@bob', []],
      ['@bob-evil and @bobby and @bob_2', []],
      ['@b\u043Eb with a Cyrillic o', []],
      ['@bob\u0301', []],
      ['npm i @bob/core', []],
      ['https://example.org/@bob', []],
      ['@@bob', []],
      ['@all @toString @constructor', ['constructor']],
      [`@bob${'.'.repeat(300)}x`, []],
    ];
    for (const [body, expected] of calls)
      expect([body, (await user.say(thread_id, body)).invokes ?? []]).toEqual([body, expected]);
  });
});

test('[BRIDGE-14] a text made to be slow to search for mentions is not', async () => {
  const user = scene.as('user', { role: 'operator' });
  const crowd = Array.from({ length: 999 }, (_, i) => `agent-${i}`);
  const thread_id = await user.thread('bob', ...crowd);
  await user.ok('control_thread', { thread_id, control: { invited_auto: { on: true } } });
  const size = 60_000;
  for (const body of [
    `@a${'.'.repeat(size)}b`,
    '@a'.repeat(size / 2),
    '@a '.repeat(size / 3),
    '`'.repeat(size),
    '` `` '.repeat(size / 5),
    '```a~~~'.repeat(size / 7),
    `@bob ${'@'.repeat(size)}`,
  ]) {
    const { message_id } = await user.say(thread_id, body);
    expect(message_id).toMatch(/^msg_/);
  }
}, 20_000);
