import { expect, test, vi } from 'vitest';

import { createPresenceBoard } from '../participation/presence.ts';
import { createMirror } from './mirror.ts';
import { createSampleBuses } from './sample-buses.ts';
import { sharePresence } from './shared-presence.ts';

const onFault = (error: unknown): void => {
  throw error;
};

test('all nodes say the same of since when somebody is there, however late they hear of it', async () => {
  const buses = createSampleBuses();
  let now = 1_000;
  const clock = { now: () => now, monotonic: () => 0, trusted: () => now };
  const node = (name: string) => {
    const mirror = createMirror({ bus: buses.open(name), clock, onFault, beatMs: 5 });
    return { mirror, board: sharePresence(createPresenceBoard(clock), { mirror }, clock) };
  };
  const [a, b] = [node('a'), node('b')];
  await vi.waitFor(() => expect([a.mirror.nodes(), b.mirror.nodes()]).toEqual([['b'], ['a']]));
  const kim = { workspace_id: 'w', agent_id: 'kim' };
  a.board.set({ ...kim, thread_id: 't', state: 'listening' }, 60_000);
  a.board.connect(kim);
  // Time passes until the other hears of it, and it has a connection of its own by then.
  now = 2_000;
  b.board.connect(kim);
  await vi.waitFor(() => {
    expect(b.board.ofAgent('w', 'kim')).toEqual(a.board.ofAgent('w', 'kim'));
    expect(b.board.ofAgent('w', 'kim')).toMatchObject([{ state: 'listening', since: 1_000 }]);
    expect([a, b].map(({ board }) => board.connectedSince('w', 'kim'))).toEqual([1_000, 1_000]);
  });
  now = 3_000;
  a.board.set({ ...kim, thread_id: 't', state: 'listening' }, 60_000);
  b.board.set({ ...kim, thread_id: 't', state: 'thinking' }, 60_000);
  await vi.waitFor(() => expect(a.board.of('t').get('kim')).toMatchObject({ state: 'thinking' }));
  expect(a.board.of('t').get('kim')?.since).toBe(3_000);
  for (const { board, mirror } of [a, b]) {
    board.close();
    mirror.close();
  }
});
