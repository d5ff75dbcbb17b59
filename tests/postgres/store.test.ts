import { randomUUID } from 'node:crypto';

import { openPostgres } from '@parley/store-postgres';
import { callerOf, creating, posting, testStore } from '@parley/core/store-contract';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';

describeWith(['postgres'], 'the PostgreSQL store', () => {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.close());

  testStore(async () => {
    const { url = '' } = server ?? {};
    const open = async () =>
      (await openPostgres({ url, onFault: (message) => console.error(message) })).store;
    let store = await open();
    return {
      store,
      async reopen() {
        await store.close();
        store = await open();
        return store;
      },
      close: () => store.close(),
    };
  });

  test('[R10] [R12] however much one workspace writes, another’s post waits for a batch and not for all of it', async () => {
    const { store } = await openPostgres({ url: server?.url ?? '', onFault: () => {} });
    onTestFinished(() => store.close());
    const open = async (workspace: string) => {
      const [thread_id, alice] = [`thr_${randomUUID()}`, callerOf('alice', workspace)];
      await store.transact(creating(thread_id, alice));
      return () => store.transact(posting(thread_id, 'x', alice));
    };
    const [flooding, post] = [await open(randomUUID()), await open(randomUUID())];
    let answered = 0;
    const flood = Array.from({ length: 2_000 }, () => flooding().then(() => answered++));
    // In the order of arrival it would be after all of them.
    expect(await post().then(() => answered)).toBeLessThan(1_000);
    await Promise.all(flood);
  }, 60_000);
});
