import { expect, test } from 'vitest';

import { createWakeDesk } from './wake-desk.ts';

const bob = { workspace_id: 'w', agent_id: 'bob', session: 's1' };
const wake = { trigger_id: 'wk_1', thread_id: 'th_1', prompt: 'look' };
const never = new AbortController().signal;

test('a session that waits gets the wake, says that it took it, and later that its record holds it', async () => {
  const desk = createWakeDesk(() => 7);
  const waits = desk.wait(bob, never);
  expect(desk.find('w', 'bob', undefined)).toEqual({ ...bob, state: 'waiting' });
  expect(desk.find('other', 'bob', 's1')).toBeUndefined();
  const seen = desk.seen('wk_1');
  const given = desk.give(bob, wake, never);
  expect(await waits).toEqual(wake);
  expect(desk.find('w', 'bob', 's1')).toEqual({ ...bob, state: { givenAt: 7 } });
  desk.took({ ...bob, agent_id: 'eve' }, 'wk_1');
  desk.took(bob, 'wk_1');
  await given;
  desk.saw(bob, ['wk_0', 'wk_1']);
  await seen;
  // It waits again after its turn.
  void desk.wait(bob, never);
  expect(desk.find('w', 'bob', 's1')?.state).toBe('waiting');
});

test('a newer call of the same session takes the place of the older; others are left alone', async () => {
  const desk = createWakeDesk(() => 0);
  const other = { ...bob, session: 's2' };
  const [first, aside] = [desk.wait(bob, never), desk.wait(other, never)];
  const second = desk.wait(bob, never);
  expect(await first).toBe('replaced');
  expect(desk.find('w', 'bob', 's2')).toEqual({ ...other, state: 'waiting' });
  // Of those it does not know by name it takes the one that came last.
  expect(desk.find('w', 'bob', 's3')).toEqual({ ...bob, state: 'waiting' });
  void desk.give(other, wake, never);
  expect(await aside).toEqual(wake);
  void desk.give(bob, wake, never);
  expect(await second).toEqual(wake);
});

test('whoever has gone is given nothing, and a wake that nobody takes comes back', async () => {
  const desk = createWakeDesk(() => 0);
  const gone = new AbortController();
  const waits = desk.wait(bob, gone.signal);
  gone.abort();
  expect(await waits).toBeUndefined();
  expect(desk.find('w', 'bob', 's1')).toBeUndefined();
  await expect(desk.give(bob, wake, never)).rejects.toThrow('nobody waits');

  void desk.wait(bob, never);
  const late = new AbortController();
  const given = desk.give(bob, wake, late.signal);
  late.abort();
  await expect(given).rejects.toThrow('did not say');
  expect(desk.find('w', 'bob', 's1')).toBeUndefined();
});
