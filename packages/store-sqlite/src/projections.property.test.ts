import { testProjections } from '@parley/core/store-contract';
import { expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { openSqliteStore } from './open-store.ts';
import { derivedRows, tamper, WIPE } from './sample-damage.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';

test('[BRIDGE-15] an old snapshot and the events after it are what a fresh fetch gives, the doctor agrees, and what is lost is made anew the same', async () => {
  const folder = sampleFolder();
  const store = await openSqliteStore({ folder, onFault: () => {} });
  try {
    await testProjections(store, 30);
  } finally {
    await store.close();
  }
  expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
  const live = derivedRows(folder);
  tamper(folder, WIPE);
  expect(checkRecord(folder)).toMatchObject({ ok: false, index: 'differs', chain: 'ok' });
  openSample(folder).close();
  expect(derivedRows(folder)).toEqual(live);
  removeFolder(folder);
}, 120_000);
