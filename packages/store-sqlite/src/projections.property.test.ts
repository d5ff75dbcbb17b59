import { testProjections } from '@parley/core/store-contract';
import { expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { openSqliteStore } from './open-store.ts';
import { removeFolder, sampleFolder } from './sample-record.ts';

test('[BRIDGE-15] an old snapshot and the events after it are what a fresh fetch gives, and the doctor agrees', async () => {
  const folder = sampleFolder();
  const store = await openSqliteStore({ folder, onFault: () => {} });
  try {
    await testProjections(store, 30);
  } finally {
    await store.close();
  }
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
  removeFolder(folder);
}, 120_000);
