import { expect, test } from 'vitest';
import { clauseTable } from './clause-table.ts';
import { prove, shortcomings } from './proof.ts';
import type { TestResult } from './test-results.ts';

const clause = (id: string, due = true) => ({ id, area: 'hub', text: id, dueWith: 'hub', due });
const result = (name: string, state: TestResult['state']): TestResult => ({ name, file: 'a.test.ts', state });

const clauses = ['HUB-1', 'HUB-2', 'HUB-3', 'HUB-4'].map((id) => clause(id)).concat(clause('HUB-5', false));
const tests = [
  result('[HUB-1] over v1', 'pass'),
  result('[HUB-1] over mcp', 'skip'),
  result('[HUB-2] over v1', 'pass'),
  result('[HUB-2] over mcp', 'fail'),
  result('[HUB-3] later', 'skip'),
];
const proofs = prove(clauses, tests);
const run = { endedAt: '2026-01-01T00:00:00Z', tests };

test('a clause is proved when a test that names it passed and none failed', () => {
  expect(proofs.filter((proof) => proof.proved).map((proof) => proof.clause.id)).toEqual(['HUB-1']);
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
      'HUB-1   proved   a.test.ts (+1)',
      'HUB-2   failed   a.test.ts (+1)',
      'HUB-3   skipped  a.test.ts',
      'HUB-4   no test',
      'HUB-5   no test',
      '',
      '1 of 5 proved',
      '',
    ].join('\n'),
  );
});
