import { test } from 'vitest';

import { testProjections } from './store-contract.ts';
import { openMemoryStore } from './store-memory.ts';

test(
  '[BRIDGE-15] an old snapshot and the events after it are what a fresh fetch gives',
  { timeout: 120_000 },
  async () => {
    await testProjections(openMemoryStore(), 200);
  },
);
