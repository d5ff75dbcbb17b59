import { describe } from 'vitest';

import { openMemoryStore } from '../store-memory.ts';
import { testAsks } from './asks-contract.ts';

describe('asks over the memory store', { timeout: 60_000 }, () => {
  testAsks(
    async () => {
      const store = openMemoryStore();
      return { store, close: () => store.close() };
    },
    { runs: 400, listed: 10_050 },
  );
});
