import { expect, test } from 'vitest';

import { CALL_FACTS } from './call-facts.ts';
import { CONTRACTS } from './contracts.ts';

test('what a client knows of an operation is what its contract says, in the same order', () => {
  const facts = Object.entries(CONTRACTS).map(([name, { input }]) => {
    const reported = [
      ...('idempotency_key' in input.shape ? ['keyed'] : []),
      ...('timeout_ms' in input.shape ? ['waits'] : []),
    ];
    return [name, reported.length === 0 ? 'plain' : reported.join(', ')];
  });
  expect(Object.entries(CALL_FACTS)).toEqual(facts);
});
