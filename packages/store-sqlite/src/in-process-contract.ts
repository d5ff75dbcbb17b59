import { testStore } from '@parley/core/store-contract';
import { describe, expect } from 'vitest';

import { checkRecord } from './check-record.ts';
import { removeFolder, sampleFolder } from './sample-record.ts';
import { openInProcess } from './sample-store.ts';

describe('the SQLite store in one thread', () => {
  const open = async () => {
    const folder = sampleFolder();
    let store = openInProcess(folder);
    return {
      store,
      async reopen() {
        await store.close();
        store = openInProcess(folder);
        return store;
      },
      async close() {
        await store.close();
        expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
        removeFolder(folder);
      },
    };
  };
  testStore(open, { isQuick: true });
});
