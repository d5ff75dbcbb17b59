import type { Claims } from '@parley/protocol';
import { expect, test } from 'vitest';

import { createTickets } from './tickets.ts';

const claimsOf = (agent_id: string, workspace_id = 'w1'): Claims =>
  ({ agent_id, workspace_id, role: 'worker', session_id: 's', jti: 'j', exp: 0 }) as unknown as Claims;

test('whoever draws tickets without end loses the oldest of them, and nobody else loses one', async () => {
  let now = 0;
  const tickets = createTickets({ lifetimeMs: 1_000, now: () => now, recheck: () => {} });
  const { ticket: theirs } = tickets.issue(claimsOf('alice'));
  const { ticket: elsewhere } = tickets.issue(claimsOf('hog', 'w2'));
  const drawn = Array.from({ length: 30_000 }, () => tickets.issue(claimsOf('hog')).ticket);
  expect((await tickets.redeem(theirs))?.agent_id).toBe('alice');
  expect((await tickets.redeem(elsewhere))?.workspace_id).toBe('w2');
  const good = await Promise.all(drawn.map((ticket) => tickets.redeem(ticket)));
  expect(drawn.filter((_, i) => good[i] !== undefined)).toEqual(drawn.slice(-100));
  const { ticket: late } = tickets.issue(claimsOf('hog'));
  now += 1_000;
  expect(await tickets.redeem(late)).toBeUndefined();
});
