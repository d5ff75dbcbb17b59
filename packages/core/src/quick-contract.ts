import { describe } from 'vitest';

import { testStore } from './store-contract.ts';
import { openMemoryStore } from './store-memory.ts';

describe('the memory store', () => {
  testStore(
    async () => {
      const store = openMemoryStore(Date.now);
      return { store, reopen: undefined, close: () => store.close() };
    },
    { isQuick: true },
  );
});
