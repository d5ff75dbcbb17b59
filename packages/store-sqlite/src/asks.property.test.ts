import { testAsks } from '@parley/core/asks-contract';
import { describe, expect } from 'vitest';

import { checkRecord } from './check-record.ts';
import { openSqliteStore } from './open-store.ts';
import { removeFolder, sampleFolder } from './sample-record.ts';

describe('asks over the SQLite store', { timeout: 60_000 }, () => {
  testAsks(
    async () => {
      const folder = sampleFolder();
      const onFault = (message: string): void => {
        throw new Error(message);
      };
      const store = await openSqliteStore({ folder, onFault });
      return {
        store,
        async close() {
          await store.close();
          expect(checkRecord(folder).problems).toEqual([]);
          removeFolder(folder);
        },
      };
    },
    { runs: 40, listed: 450 },
  );
});
