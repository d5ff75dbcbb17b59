import { AgentName } from '@parley/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { hubNameOf, isOfTeam, mailNamesOf } from './bridge-names.ts';

const team = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);
const hubName = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);

test('plain names stay as people know them', () => {
  expect(hubNameOf('blue', 'team-lead')).toBe('blue.team-lead');
  expect(mailNamesOf('ann')[0]).toBe('hub-ann');
});

test('every agent of every team has a legal name at the hub, and no two share one', () => {
  const agent = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 140 }),
    fc.stringMatching(/^[a-z.:-]{1,3}$/),
  );
  fc.assert(
    fc.property(team, agent, team, agent, (teamA, a, teamB, b) => {
      const name = hubNameOf(teamA, a);
      expect(AgentName.safeParse(name).success).toBe(true);
      expect(`bridge:${name}`.length).toBeLessThanOrEqual(128);
      expect(isOfTeam(teamA, name)).toBe(true);
      expect(name === hubNameOf(teamB, b)).toBe(teamA === teamB && a === b);
      expect(isOfTeam(teamB, name)).toBe(teamA === teamB);
    }),
  );
});

test('every name of the hub has an inbox of its own, on any file system', () => {
  fc.assert(
    fc.property(hubName, hubName, (a, b) => {
      const [first, second] = mailNamesOf(a);
      for (const name of [first, second]) expect(name).toMatch(/^hub-[a-z0-9_-]{1,60}$/);
      if (a !== b) expect(mailNamesOf(b)).not.toContain(first);
      if (a !== b) expect(mailNamesOf(b)).not.toContain(second);
    }),
  );
  expect(mailNamesOf('Ann')[0]).not.toBe(mailNamesOf('ann')[0]);
  expect(mailNamesOf('a.b')[0]).not.toBe(mailNamesOf('a-b')[0]);
});
