import { expect, test } from 'vitest';
import { clauseTable } from './clause-table.ts';
import type { Clause } from './clauses.ts';
import { extentOf, prove, shortcomings } from './proof.ts';
import type { TestResult } from './test-results.ts';

const clause = (id: string, due = true): Clause => ({ id, area: 'hub', text: id, dueWith: 'hub', due });
const result = (name: string, state: TestResult['state']): TestResult => ({ name, file: 'a.test.ts', state });

const clauses: Clause[] = ['HUB-1', 'HUB-2', 'HUB-3', 'HUB-4']
  .map((id) => clause(id))
  .concat(
    clause('HUB-5', false),
    { ...clause('HUB-6'), extent: { proof: 'full' } },
    { ...clause('HUB-7'), extent: { proof: 'narrow', reason: 'a minute instead of an hour' } },
  );
const tests = [
  result('[HUB-1] over v1', 'pass'),
  result('[HUB-1] over mcp', 'skip'),
  result('[HUB-2] over v1', 'pass'),
  result('[HUB-2] over mcp', 'fail'),
  result('[HUB-3] later', 'skip'),
  result('[HUB-6] [HUB-7] both', 'pass'),
];
const proofs = prove(clauses, tests);
const run = { endedAt: '2026-01-01T00:00:00Z', tests };

test('a clause is proved when a test that names it passed and none failed', () => {
  expect(proofs.filter((proof) => proof.proved).map((proof) => proof.clause.id)).toEqual([
    'HUB-1',
    'HUB-6',
    'HUB-7',
  ]);
});

test('how far each is proved: wholly, in part, or not at all, and why', () => {
  expect(proofs.map(extentOf)).toEqual([
    { proof: 'narrow', reason: 'nobody has read its tests beside its text yet' },
    { proof: 'none', reason: 'a test that names it failed' },
    { proof: 'none', reason: 'every test that names it was skipped' },
    { proof: 'none', reason: 'no test of the last full run names it' },
    { proof: 'none', reason: 'no test of the last full run names it' },
    { proof: 'full' },
    { proof: 'narrow', reason: 'a minute instead of an hour' },
  ]);
});

test('only due clauses are missed, and skipped tests count in CI alone', () => {
  const missed = [
    'not proved: HUB-2 (2 tests name it)',
    'not proved: HUB-3 (1 tests name it)',
    'not proved: HUB-4 (0 tests name it)',
  ];
  const skipped = ['skipped: a.test.ts > [HUB-1] over mcp', 'skipped: a.test.ts > [HUB-3] later'];
  expect(shortcomings(proofs, run, false)).toEqual(missed);
  expect(shortcomings(proofs, run, true)).toEqual([...missed, ...skipped]);
});

test('the table is aligned and closes with the count', () => {
  expect(clauseTable(proofs)).toBe(
    [
      'clause  state    proved by',
      'HUB-1   narrow   a.test.ts (+1)',
      '        nobody has read its tests beside its text yet',
      'HUB-2   failed   a.test.ts (+1)',
      'HUB-3   skipped  a.test.ts',
      'HUB-4   no test',
      'HUB-5   no test',
      'HUB-6   full     a.test.ts',
      'HUB-7   narrow   a.test.ts',
      '        a minute instead of an hour',
      '',
      '3 of 7 proved, 1 in full and 2 narrowly',
      '',
    ].join('\n'),
  );
});
