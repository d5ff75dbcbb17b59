import { expect, test } from 'vitest';
import { clauses, joinClauses } from './clauses.ts';

const countOf = (area: string) => clauses.filter((clause) => clause.area.split('/')[0] === area).length;

test('the data holds every clause, case and promise', () => {
  const areas = ['hub', 'bridge', 'live', 'proxy', 'knowledge', 'promises', 'cases'];
  expect(Object.fromEntries(areas.map((area) => [area, countOf(area)]))).toEqual({
    hub: 45,
    bridge: 19,
    live: 14,
    proxy: 196,
    knowledge: 26,
    promises: 12,
    cases: 281,
  });
});

const area = {
  area: 'hub',
  finished: true,
  except: ['HUB-2'],
  cases: ['C-HUB-01'],
  clauses: [
    { id: 'HUB-1', text: 'one' },
    { id: 'HUB-2', text: 'two' },
  ],
};
const acceptance = { id: 'C-HUB-01', area: 'HUB', clause: 'S0', do: 'ask', expect: 'an answer' };

test('a finished area makes its clauses and cases due, but not what it excepts', () => {
  expect(joinClauses([area], [acceptance]).map(({ id, due }) => [id, due])).toEqual([
    ['HUB-1', true],
    ['HUB-2', false],
    ['C-HUB-01', true],
  ]);
});

test('a case is a clause of its own group, due with the area that lists it', () => {
  expect(joinClauses([area], [acceptance]).at(-1)).toMatchObject({
    area: 'cases/HUB',
    dueWith: 'hub',
    text: 'ask → an answer',
  });
});

test('ids that are unknown, doubled or due nowhere are refused', () => {
  expect(() => joinClauses([area], [])).toThrow('hub lists unknown ids: C-HUB-01');
  expect(() => joinClauses([area, area], [acceptance])).toThrow('listed twice');
  expect(() => joinClauses([{ ...area, cases: [] }], [acceptance])).toThrow('C-HUB-01 is due with no area');
});

test('a judgement of what is not there is refused', () => {
  expect(() => joinClauses([area], [acceptance], { 'HUB-9': { proof: 'full' } })).toThrow(
    'judged and unknown: HUB-9',
  );
});

test('somebody has read the tests of every due clause beside its text', () => {
  expect(clauses.filter(({ due, extent }) => due && extent === undefined).map(({ id }) => id)).toEqual([]);
});
