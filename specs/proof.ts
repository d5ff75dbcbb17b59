/** Sets what was to prove against what the tests found. */
import type { Clause } from './clauses.ts';
import { idsIn } from './test-names.ts';
import type { TestResult, TestRun } from './test-results.ts';

/** A clause with the tests that name it. */
export interface Proof {
  clause: Clause;
  tests: readonly TestResult[];
  /** True when a test that names the clause passed and none that names it failed. */
  proved: boolean;
}

/** Finds for each clause the tests that name it and whether they prove it. */
export function prove(clauses: readonly Clause[], results: readonly TestResult[]): Proof[] {
  const testsById = new Map<string, TestResult[]>();
  for (const result of results) {
    for (const id of new Set(idsIn(result.name))) {
      testsById.set(id, [...(testsById.get(id) ?? []), result]);
    }
  }
  return clauses.map((clause) => {
    const tests = testsById.get(clause.id) ?? [];
    const has = (state: TestResult['state']) => tests.some((test) => test.state === state);
    return { clause, tests, proved: has('pass') && !has('fail') };
  });
}

/** How far a clause is proved: not at all, in part with the reason, or wholly. */
export function extentOf({ clause: { extent }, tests, proved }: Proof): {
  proof: 'none' | 'narrow' | 'full';
  reason?: string;
} {
  if (!proved) return { proof: 'none', reason: whyNot(tests) };
  return extent ?? { proof: 'narrow', reason: 'nobody has read its tests beside its text yet' };
}

function whyNot(tests: readonly TestResult[]): string {
  if (tests.length === 0) return 'no test of the last full run names it';
  return tests.some(({ state }) => state === 'fail')
    ? 'a test that names it failed'
    : 'every test that names it was skipped';
}

/** Names what a full run leaves to be desired: due clauses without proof and, where `ci`, skipped tests. */
export function shortcomings(proofs: readonly Proof[], run: TestRun, ci: boolean): string[] {
  const unproved = proofs
    .filter(({ clause, proved }) => clause.due && !proved)
    .map(({ clause, tests }) => `not proved: ${clause.id} (${tests.length} tests name it)`);
  const skipped = run.tests
    .filter((test) => ci && test.state === 'skip')
    .map((test) => `skipped: ${test.file} > ${test.name}`);
  return [...unproved, ...skipped];
}
