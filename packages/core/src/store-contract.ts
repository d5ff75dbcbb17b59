import { afterAll, beforeAll, expect, test } from 'vitest';

import type { TakeLease } from './commands.ts';
import { hubCaller, OWN_WORKSPACE } from './hub-caller.ts';
import { testAuthority } from './store-contract/authority-contract.ts';
import { testCommands } from './store-contract/commands-contract.ts';
import { testConversation } from './store-contract/conversation-contract.ts';
import { testDeadlines } from './store-contract/deadlines-contract.ts';
import { testLeases } from './store-contract/leases-contract.ts';
import { testMerges } from './store-contract/merges-contract.ts';
import { testPages } from './store-contract/pages-contract.ts';
import { testReading } from './store-contract/reading-contract.ts';
import { testRecords } from './store-contract/records-contract.ts';
import {
  acking,
  ALL,
  beating,
  callerOf,
  type Check,
  createScene,
  creating,
  head,
  type OpenedStore,
  posting,
} from './store-contract/scene.ts';
import { testTree } from './store-contract/tree-contract.ts';
import { testWakes, waking } from './store-contract/wake-contract.ts';
import { testWorkspace } from './store-contract/workspace-contract.ts';

export { testProjections } from './store-contract/projections-contract.ts';
export { callerOf, creating, posting } from './store-contract/scene.ts';

/** What every store must do; the memory store, SQLite and PostgreSQL run the same suite, mutants all of it that is quick. */
export function testStore(open: () => Promise<OpenedStore>, { isQuick = false } = {}): void {
  let opened: OpenedStore | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close(), 60_000);

  const check: Check = (name, run, size) => {
    if (isQuick && size === 'long') return;
    test(name, async () => {
      if (opened === undefined) throw new Error('the store did not open');
      await run(await createScene(opened.store));
    });
  };

  test('a thread is found, foreign or unknown', async () => {
    if (opened === undefined) throw new Error('the store did not open');
    const { store } = opened;
    const locate = async (workspace_id: string, thread_id: string) =>
      (await store.page({ workspace_id, thread_id, after: 0, ...ALL })).located;
    expect(await locate('one', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    await store.transact(creating('here', callerOf('alice', 'one')));
    expect((await locate('one', 'here')).thread).toMatchObject({ thread_id: 'here', workspace_id: 'one' });
    expect(await locate('one', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    expect(await locate('two', 'nowhere')).toEqual({ thread: undefined, foreign: true });
    await store.transact(creating('there', callerOf('carol', 'two')));
    expect(await locate('two', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    const lost = store.transact(posting('nowhere', 'x', callerOf('alice', 'three')));
    await expect(lost).rejects.toMatchObject({ code: 'OUT_OF_SCOPE_WORKSPACE' });
  });

  testCommands(check);
  testDeadlines(check);
  testAuthority(check);
  testPages(check);
  testReading(check);
  testRecords(check);
  testWorkspace(check);
  testConversation(check);
  testTree(check);
  testWakes(check);
  testLeases(check);
  testMerges(check);

  check('a store says that it can be written to', async ({ store }) => {
    expect(store.health()).toMatchObject({ writable: true });
  });

  check(
    '[R1] [R3] everything is there after closing and opening again',
    async ({ store, alice, say, page, t, workspace_id }) => {
      if (opened?.reopen === undefined) return;
      for (let i = 1; i <= 3; i++) await say(`${i}`);
      const first = await say('keyed', { key: 'k' });
      await store.transact(acking(t, 2, alice));
      await store.transact(beating(alice, 'idle'));
      for (const i of [1, 2]) await store.transact(waking({ alice, workspace_id, t }, i));
      const taking = (owner: string): TakeLease => ({
        type: 'take_lease',
        ...head(hubCaller(OWN_WORKSPACE)),
        input: { name: t, owner },
      });
      const { result: own } = await store.transact(taking('before'));
      const before = [
        await page(),
        await store.cursors(t, workspace_id),
        await store.records({ kind: 'session', workspace_id, limit: 9 }),
      ];
      const again = await opened.reopen();
      const query = { workspace_id, thread_id: t, after: 0, ...ALL };
      expect([
        await again.page(query),
        await again.cursors(t, workspace_id),
        await again.records({ kind: 'session', workspace_id, limit: 9 }),
      ]).toEqual(before);
      const retried = await again.transact(posting(t, 'keyed', alice, { key: 'k' }));
      expect(retried).toEqual({ result: first.result, replayed: true });
      // The epoch rises over a restart, and what carries the one of before is refused.
      expect((await again.transact(taking('after'))).result).toEqual({ epoch: own.epoch + 1 });
      const late = { ...posting(t, 'late', alice), fence: { lease: t, epoch: own.epoch } };
      await expect(again.transact(late)).rejects.toMatchObject({ code: 'CONFLICT' });
      const third = await again.transact(waking({ alice, workspace_id, t }, 3));
      expect(third.result).toMatchObject({ state: 'skipped' });
      expect((await again.transact(posting(t, 'next', alice))).reached?.[0]?.last_seq).toBe(5);
    },
  );
}
