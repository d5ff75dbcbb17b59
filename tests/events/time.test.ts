import { expect, test } from 'vitest';

import { fakeClock } from '../harness/fake-clock.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { bridgeFaces } from './events-driver.ts';

describeWith(['libfaketime'], 'the time of a conversation', ({ libfaketime }) => {
  const { move, env } = fakeClock(libfaketime);
  const scene = useHub({ env });

  test.each(bridgeFaces)(
    '[BRIDGE-18] [C-BRIDGE-16] [BRIDGE-6] over $name a ttl of 600 s holds at 590 s and has lapsed at 601 s',
    async (face) => {
      move(0);
      const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });
      const [user, a] = [as('user', 'operator'), as('a')];
      const thread_id = await user.thread('a');
      const { message_id } = await user.say(thread_id, 'answer me', { to: 'a' });
      const advice = () => a.ok('should_respond', { thread_id, message_id });
      const set = (ttl_seconds: unknown) => ({ thread_id, control: { ttl_seconds } });
      await user.ok('control_thread', set(600) as never);
      expect(await advice()).toMatchObject({ respond: true });
      move(590_000);
      expect(await advice()).toMatchObject({ respond: true });
      expect((await user.say(thread_id, 'in time', { to: 'a' })).invokes).toEqual(['a']);
      move(601_000);
      expect(await advice()).toMatchObject({ respond: false, rule: 'ended' });
      expect((await user.say(thread_id, 'too late', { to: 'a' })).invokes).toBeUndefined();
      await a.say(thread_id, 'it is advice, not a gag');
      await user.ok('control_thread', set(60) as never);
      expect(await advice()).toMatchObject({ respond: true });
      await scene.unchanged(async () => {
        for (const wrong of [-1, 0, 1.5, Number.NaN, '600', null, 31_536_001])
          await user.refused('control_thread', set(wrong), 'VALIDATION_ERROR');
        // A number that would lose digits is refused before any operation.
        const huge = await user.call('control_thread', set(1e20));
        expect(huge.error?.code).toBe('VALIDATION_ERROR');
      });
    },
  );

  test('[BRIDGE-10] [C-BRIDGE-07] a clock that jumps neither ends a presence nor keeps it', async () => {
    move(0);
    const alice = scene.as('alice');
    const thread_id = await alice.thread();
    const state = async () => (await alice.ok('list_presence', { thread_id })).participants[0]?.state;
    await alice.ok('set_presence', { thread_id, state: 'thinking', ttl_ms: 60_000 });
    move(1_800_000);
    expect(await state()).toBe('thinking');
    await alice.ok('set_presence', { thread_id, state: 'idle', ttl_ms: 1_000 });
    move(0);
    await expect.poll(state, { timeout: 5_000, interval: 100 }).toBe('offline');
  });
});
