import { randomBytes, randomInt } from 'node:crypto';

import { expect, test } from 'vitest';

import { createInvitations } from './invitations.ts';

test('a person who invites without end loses the oldest invitations, and nobody else loses one', () => {
  const chance = { bytes: (count: number) => randomBytes(count), below: (bound: number) => randomInt(bound) };
  const invitations = createInvitations({ now: () => 0, monotonic: () => 0 }, chance);
  const issue = (agent_id: string, workspace_id = 'w1') =>
    invitations.issue(
      { agent_id, workspace_id, name: undefined, read_only: false, grant: { devices: [] } },
      60_000,
    ).key;
  const theirs = issue('alice');
  const elsewhere = issue('boss', 'w2');
  const keys = new Set(Array.from({ length: 1_500 }, () => issue('boss')));
  expect(invitations.redeem(theirs)?.agent_id).toBe('alice');
  expect(invitations.redeem(elsewhere)?.workspace_id).toBe('w2');
  expect([...keys].filter((key) => invitations.redeem(key) !== undefined)).toHaveLength(20);
});
