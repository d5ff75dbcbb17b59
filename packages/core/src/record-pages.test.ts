import { expect, test } from 'vitest';

import { takeDue } from './record-pages.ts';
import type { UsedNonce } from './envelope/envelope-records.ts';
import type { Store } from './store.ts';

test('of what cannot be taken one page is looked at, and no more', async () => {
  const page = Array.from({ length: 500 }, (_, i): UsedNonce => ({
    workspace_id: 'w',
    key: `k ${i}`,
    until: i,
  }));
  const store = { records: async () => page } as unknown as Pick<Store, 'records'>;
  let taken = 0;
  await takeDue(store, { kind: 'nonce', mark: 'used', due_by: 1_000 }, async (_workspace, values) => {
    taken += values.length;
  });
  expect(taken).toBe(500);
});
