import type { Role, ThreadStatus } from '@parley/protocol';
import { expect, test } from 'vitest';

import { checkTransition, mayOverride } from './status.ts';

const STATUSES: ThreadStatus[] = ['active', 'blocked', 'resolved', 'closed'];
const ROLES: Role[] = ['operator', 'orchestrator', 'worker', 'observer'];

function outcome(from: ThreadStatus, to: ThreadStatus, disputed: boolean, role: Role): string {
  try {
    checkTransition(from, to, disputed, { role });
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** Every move: what those who steer get, what others get, and what others get while something is disputed. */
const TABLE: Record<string, [steering: string, others: string, disputed: string]> = {
  'active active': ['CONFLICT', 'CONFLICT', 'CONFLICT'],
  'active blocked': ['ok', 'ok', 'ok'],
  'active resolved': ['ok', 'ok', 'ok'],
  'active closed': ['ok', 'ok', 'INSUFFICIENT_AUTHORITY'],
  'blocked active': ['ok', 'ok', 'ok'],
  'blocked blocked': ['CONFLICT', 'CONFLICT', 'CONFLICT'],
  'blocked resolved': ['ok', 'ok', 'ok'],
  'blocked closed': ['ok', 'ok', 'INSUFFICIENT_AUTHORITY'],
  'resolved active': ['ok', 'ok', 'ok'],
  'resolved blocked': ['CONFLICT', 'CONFLICT', 'CONFLICT'],
  'resolved resolved': ['CONFLICT', 'CONFLICT', 'CONFLICT'],
  'resolved closed': ['ok', 'ok', 'INSUFFICIENT_AUTHORITY'],
  'closed active': ['ok', 'INSUFFICIENT_AUTHORITY', 'INSUFFICIENT_AUTHORITY'],
  'closed blocked': ['CONFLICT', 'CONFLICT', 'CONFLICT'],
  'closed resolved': ['CONFLICT', 'CONFLICT', 'CONFLICT'],
  'closed closed': ['CONFLICT', 'CONFLICT', 'CONFLICT'],
};

test('[HUB-M6] every move by every role, disputed or not, is as the table says', () => {
  const seen: Record<string, string[]> = {};
  const expected: Record<string, string[]> = {};
  for (const from of STATUSES) {
    for (const to of STATUSES) {
      const move = `${from} ${to}`;
      const [steering = '', others = '', disputed = ''] = TABLE[move] ?? [];
      seen[move] = [false, true].flatMap((open) => ROLES.map((role) => outcome(from, to, open, role)));
      expected[move] = [steering, steering, others, others, steering, steering, disputed, disputed];
    }
  }
  expect(seen).toEqual(expected);
});

test('[HUB-M6] a refused move says from where to where, and what would be legal', () => {
  expect(() => checkTransition('resolved', 'blocked', false, { role: 'worker' })).toThrow(
    expect.objectContaining({
      details: { from: 'resolved', to: 'blocked', legal: ['active', 'closed'] },
    }) as Error,
  );
  expect(() => checkTransition('active', 'active', false, { role: 'operator' })).toThrow('already active');
  expect(() => checkTransition('active', 'closed', true, { role: 'worker' })).toThrow(
    expect.objectContaining({ details: { role: 'worker', from: 'active', to: 'closed' } }) as Error,
  );
});

test('a refusal says what the role may not do: reopen, or close what is disputed', () => {
  const move = (from: ThreadStatus, to: ThreadStatus) => () =>
    checkTransition(from, to, true, { role: 'worker' });
  expect(move('closed', 'active')).toThrow('may reopen a closed thread');
  expect(move('active', 'closed')).toThrow('may close a disputed thread');
});

test('operators and orchestrators steer, nobody else', () => {
  expect(ROLES.map((role) => mayOverride({ role }))).toEqual([true, true, false, false]);
});
