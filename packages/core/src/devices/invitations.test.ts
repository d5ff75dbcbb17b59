import { randomBytes, randomInt } from 'node:crypto';

import { expect, test } from 'vitest';

import { createInvitations } from './invitations.ts';

test('a person who invites without end loses the oldest invitations, and nobody else loses one', async () => {
  const chance = { bytes: (count: number) => randomBytes(count), below: (bound: number) => randomInt(bound) };
  const invitations = createInvitations({ now: () => 0, monotonic: () => 0 }, chance);
  const issue = async (agent_id: string, workspace_id = 'w1') => {
    const person = { agent_id, workspace_id, name: undefined, read_only: false, grant: { devices: [] } };
    return (await invitations.issue(person, 60_000)).key;
  };
  const theirs = await issue('alice');
  const elsewhere = await issue('boss', 'w2');
  const keys = await Promise.all(Array.from({ length: 1_500 }, () => issue('boss')));
  expect((await invitations.redeem(theirs))?.agent_id).toBe('alice');
  expect((await invitations.redeem(elsewhere))?.workspace_id).toBe('w2');
  const found = await Promise.all(keys.map((key) => invitations.redeem(key)));
  expect(found.filter((one) => one !== undefined)).toHaveLength(20);
});
