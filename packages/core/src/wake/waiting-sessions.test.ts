import { expect, test } from 'vitest';

import { createWaitingSessions } from './waiting-sessions.ts';

const bob = { workspace_id: 'w', agent_id: 'bob', session: 's1' };
const wake = { trigger_id: 'wk_1', thread_id: 'th_1', prompt: 'look' };
const never = new AbortController().signal;

test('a session that waits gets the wake, says that it took it, and later that its record holds it', async () => {
  const sample = createWaitingSessions(() => 7);
  const waits = sample.wait(bob, never);
  expect(sample.find('w', 'bob', undefined)).toEqual({ ...bob, state: 'waiting' });
  expect(sample.find('other', 'bob', 's1')).toBeUndefined();
  const seen = sample.seen('wk_1');
  const given = sample.give(bob, wake, never);
  expect(await waits).toEqual(wake);
  expect(sample.find('w', 'bob', 's1')).toEqual({ ...bob, state: { givenAt: 7 } });
  sample.took({ ...bob, agent_id: 'eve' }, 'wk_1');
  sample.took(bob, 'wk_1');
  await given;
  sample.saw(bob, ['wk_0', 'wk_1']);
  await seen;
  // It waits again after its turn.
  void sample.wait(bob, never);
  expect(sample.find('w', 'bob', 's1')?.state).toBe('waiting');
});

test('a newer call of the same session takes the place of the older; others are left alone', async () => {
  const sample = createWaitingSessions(() => 0);
  const other = { ...bob, session: 's2' };
  const [first, aside] = [sample.wait(bob, never), sample.wait(other, never)];
  const second = sample.wait(bob, never);
  expect(await first).toBe('replaced');
  expect(sample.find('w', 'bob', 's2')).toEqual({ ...other, state: 'waiting' });
  // Of those it does not know by name it takes the one that came last.
  expect(sample.find('w', 'bob', 's3')).toEqual({ ...bob, state: 'waiting' });
  void sample.give(other, wake, never);
  expect(await aside).toEqual(wake);
  void sample.give(bob, wake, never);
  expect(await second).toEqual(wake);
});

test('whoever has gone is given nothing, and a wake that nobody takes comes back', async () => {
  const sample = createWaitingSessions(() => 0);
  const gone = new AbortController();
  const waits = sample.wait(bob, gone.signal);
  gone.abort();
  expect(await waits).toBeUndefined();
  expect(sample.find('w', 'bob', 's1')).toBeUndefined();
  await expect(sample.give(bob, wake, never)).rejects.toThrow('nobody waits');

  void sample.wait(bob, never);
  const late = new AbortController();
  const given = sample.give(bob, wake, late.signal);
  late.abort();
  await expect(given).rejects.toThrow('did not say');
  expect(sample.find('w', 'bob', 's1')).toBeUndefined();
});
