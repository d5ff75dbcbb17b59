import { CONTRACTS } from '@parley/protocol';
import { expect, test } from 'vitest';

import { PRESENCE_CALLS } from './presence.ts';

test('the calls of a presence are what their contracts say: each has a key, none waits', () => {
  for (const name of PRESENCE_CALLS) {
    const { shape } = CONTRACTS[name].input;
    expect(shape).toHaveProperty('idempotency_key');
    expect(shape).not.toHaveProperty('timeout_ms');
  }
});
