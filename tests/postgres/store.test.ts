import { randomUUID } from 'node:crypto';

import { openPostgres } from '@parley/store-postgres';
import { callerOf, creating, posting, testStore } from '@parley/core/store-contract';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

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

  test('[R10] keys that no longer bind go some at a time, and all of them go', async () => {
    const { url = '' } = server ?? {};
    const { store } = await openPostgres({ url, onFault: (message) => expect(message).toBe('') });
    onTestFinished(() => store.close());
    const [thread_id, alice] = [`thr_${randomUUID()}`, callerOf('alice', randomUUID())];
    await store.transact(creating(thread_id, alice));
    const keys = Array.from({ length: 1_100 }, (_, n) => `key ${n}`);
    await Promise.all(keys.map((key) => store.transact(posting(thread_id, 'x', alice, { key }))));
    await server?.query(`
      CREATE TABLE parley.went (count int);
      CREATE FUNCTION parley.note_gone() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO parley.went SELECT count(*) FROM gone; RETURN NULL; END $$;
      CREATE TRIGGER note_gone AFTER DELETE ON parley.idempotency
        REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION parley.note_gone()`);
    store.forgetKeys(Number.MAX_SAFE_INTEGER);
    const went = async () =>
      (await server?.query<{ count: number }>('SELECT count FROM parley.went'))?.map(({ count }) => count) ??
      [];
    const sum = async (): Promise<number> => (await went()).reduce((all, one) => all + one, 0);
    await vi.waitFor(async () => expect(await sum()).toBeGreaterThanOrEqual(keys.length), 20_000);
    expect(Math.max(...(await went()))).toBeLessThanOrEqual(500);
    const again = await store.transact(posting(thread_id, 'y', alice, { key: 'key 0' }));
    expect(again).toMatchObject({ replayed: false });
  }, 60_000);
});
