import { expect } from 'vitest';

import type { ConformanceResult } from './run-conformance.ts';

/** What of the suite does not apply to a server, and why. */
export interface Exceptions {
  /** Whole scenarios. */
  scenarios: Record<string, string>;
  /** Single checks of scenarios that else apply. */
  checks: Record<string, Record<string, string>>;
}

/** Every scored scenario passes but the exceptions, and each of these fails as one that does not apply; how many are scored. */
export function expectAllBut(results: readonly ConformanceResult[], exceptions: Exceptions): number {
  const scored = results.filter((result) => result.scored);
  const failed = scored.flatMap(({ scenario, checks, passed, failures }) => {
    const expected = exceptions.checks[scenario];
    if (passed || expected === undefined) return passed ? [] : [{ scenario, failures }];
    const ids = new Set(checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id));
    expect([...ids].toSorted(), scenario).toEqual(Object.keys(expected).toSorted());
    return [];
  });
  expect(failed.map(({ scenario }) => scenario).toSorted()).toEqual(
    Object.keys(exceptions.scenarios).toSorted(),
  );
  // What does not apply is refused as such, and not in any other way.
  for (const { scenario, failures } of failed)
    expect(`${scenario}: ${failures.join()}`).toMatch(/not found|unknown tool|-32601|InputRequiredResult/i);
  return scored.length;
}
