import { expect } from 'vitest';

import { ORDER_MAX } from '../knowledge/order-keys.ts';
import { PURGE_AFTER_MS } from '../knowledge/document-records.ts';
import { isIgnored } from '../results.ts';
import { callerOf, type Check, NOW, type Scene } from './scene.ts';
import { nth, type TreeScene, treeScene } from './tree-scene.ts';

const code = (word: string) => ({ code: word });

/** What a store does with documents: one tree per workspace, one entry per change, records that follow from the log. */
export function testTree(check: Check): void {
  const tree = (name: string, run: (tree: TreeScene, scene: Scene) => Promise<void>, size?: 'long'): void => {
    check(
      name,
      async (scene) => {
        const own = treeScene(scene.store, scene.workspace_id);
        await run(own, scene);
        await own.checkFold();
      },
      size,
    );
  };

  tree('[KNOW-13] a document is made under a parent that is there, and once', async (t, { store }) => {
    expect((await t.create(1)).result).toEqual({ id: nth(1), revision: 1 });
    await t.create(2, 1);
    await t.create(3, 1);
    expect(await t.children()).toEqual([1]);
    expect(await t.children(1)).toEqual([2, 3]);
    await expect(t.create(1)).rejects.toMatchObject(code('CONFLICT'));
    await expect(t.create(4, 99)).rejects.toMatchObject(code('NOT_FOUND'));
    await t.run('delete_document', { document_id: nth(1) });
    await expect(t.create(4, 1)).rejects.toMatchObject(code('NOT_FOUND'));
    await expect(t.create(4, 2)).rejects.toMatchObject(code('NOT_FOUND'));
    await expect(t.create(2)).rejects.toMatchObject(code('CONFLICT'));
    const other = treeScene(store, `${t.workspace_id}-other`);
    await other.create(1);
    expect(await other.children()).toEqual([1]);
  });

  tree('a document is found with those above it, the nearest first', async (t, { store }) => {
    for (let n = 1; n <= 5; n++) await t.create(n, n === 1 ? undefined : n - 1);
    const above = async (line: string, limit: number) =>
      (await store.records({ kind: 'document', workspace_id: t.workspace_id, line, limit })).map(
        ({ document_id }) => document_id,
      );
    expect(await above(nth(4), 9)).toEqual([nth(4), nth(3), nth(2), nth(1)]);
    expect(await above(nth(4), 2)).toEqual([nth(4), nth(3)]);
    expect(await above(nth(9), 9)).toEqual([]);
    expect(await above('root', 9)).toEqual([]);
  });

  tree(
    '[KNOW-14] [C-ENV-12] a merge patch changes what its mask names and nothing else',
    async (t, { store }) => {
      await t.create(1, undefined, 'first');
      const update = (patch: Record<string, unknown>, ...update_mask: string[]) =>
        t.run('update_document', { document_id: nth(1), patch, update_mask });
      await update({ content: { body: 'second' }, metadata: { tags: ['a'], source: 's' } }, 'content.body');
      expect(await t.document(1)).toMatchObject({ revision: 2, metadata: { title: 'title 1' }, bytes: 6 });
      await update({ metadata: { tags: ['a'], source: 's', deep: { x: 1, y: 2 } } }, 'metadata');
      await update({ metadata: { source: null, deep: { x: null } } }, 'metadata.source', 'metadata.deep');
      expect((await t.document(1))?.metadata).toEqual({ title: 'title 1', tags: ['a'], deep: { y: 2 } });
      await update({}, 'metadata.deep', 'metadata.tags');
      expect((await t.document(1))?.metadata).toEqual({ title: 'title 1' });
      for (const [patch, mask] of [
        [{ metadata: null }, 'metadata'],
        [{ metadata: { title: null } }, 'metadata.title'],
        [{ metadata: { tags: [1] } }, 'metadata.tags'],
        [{ content: { mime_type: 'text/html' } }, 'content.mime_type'],
        [{}, '__proto__'],
        [{}, 'metadata.__proto__'],
        [{}, 'metadata.__proto__.x'],
        [{}, 'metadata.constructor'],
        [{}, 'content.body.0'],
        [{}, 'revision'],
      ] as const)
        await expect(update(patch, mask)).rejects.toMatchObject(code('VALIDATION_ERROR'));
      expect(({} as { x?: unknown }).x).toBeUndefined();
      expect((await t.document(1))?.revision).toBe(5);
      const texts = await store.records({ kind: 'content', workspace_id: t.workspace_id, limit: 9 });
      expect(texts.map(({ body }) => body).toSorted()).toEqual(['first', 'second']);
    },
  );

  tree('[KNOW-14] of many changes to one revision exactly one succeeds', async (t) => {
    await t.create(1);
    const update = (title: string, last_known_revision?: number) =>
      t.run('update_document', {
        document_id: nth(1),
        patch: { metadata: { title } },
        update_mask: ['metadata.title'],
        ...(last_known_revision === undefined ? {} : { last_known_revision }),
      });
    const racing = await Promise.allSettled(Array.from({ length: 50 }, (_, i) => update(`t${i}`, 1)));
    expect(racing.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of racing)
      if (one.status === 'rejected')
        expect(one.reason).toMatchObject({ code: 'CONFLICT', details: { expected_revision: 1, actual: 2 } });
    await Promise.all(Array.from({ length: 50 }, (_, i) => update(`u${i}`)));
    expect((await t.document(1))?.revision).toBe(52);
    expect((await t.history(1)).map(({ revision }) => revision)).toEqual(
      Array.from({ length: 52 }, (_, i) => i + 1),
    );
  });

  tree('[KNOW-14] a revision can be brought back, text and all', async (t) => {
    await t.create(1, undefined, 'old');
    await t.run('update_document', {
      document_id: nth(1),
      patch: { content: { body: 'new' }, metadata: { title: 'renamed' } },
      update_mask: ['content.body', 'metadata.title'],
    });
    const { sha256 } = (await t.document(1)) ?? {};
    await t.run('revert_document', { document_id: nth(1), revision: 1 });
    const now = await t.document(1);
    expect(now).toMatchObject({ revision: 3, metadata: { title: 'title 1' }, bytes: 3 });
    expect(now?.sha256).not.toBe(sha256);
    await expect(t.run('revert_document', { document_id: nth(1), revision: 9 })).rejects.toMatchObject(
      code('NOT_FOUND'),
    );
    // Who has not seen what stands there now does not put an older text over it.
    const revert = (last_known_revision: number) =>
      t.run('revert_document', { document_id: nth(1), revision: 2, last_known_revision });
    for (const stale of [2, 4])
      await expect(revert(stale)).rejects.toMatchObject({
        code: 'CONFLICT',
        details: { expected_revision: stale, actual: 3 },
      });
    expect(await t.document(1)).toEqual(now);
    await revert(3);
    expect(await t.document(1)).toMatchObject({ revision: 4, sha256 });
  });

  tree('[KNOW-15] what is deleted goes with all below it, and comes back as it went', async (t) => {
    for (const [n, parent] of [[1], [2, 1], [3, 2], [4, 1]] as const) await t.create(n, parent);
    await t.run('delete_document', { document_id: nth(4), reason: 'alone' });
    const gone = await t.run('delete_document', { document_id: nth(1), reason: 'all' });
    expect(gone.result).toMatchObject({ id: nth(1), revision: 2, deleted: true });
    for (const n of [1, 2, 3]) expect(await t.document(n)).toMatchObject({ delete_root: nth(1) });
    expect(await t.document(4)).toMatchObject({ delete_root: nth(4), delete_reason: 'alone' });
    await expect(t.run('delete_document', { document_id: nth(2) })).rejects.toMatchObject(code('NOT_FOUND'));
    await expect(t.run('restore_document', { document_id: nth(3) })).rejects.toMatchObject(code('CONFLICT'));
    await expect(t.run('restore_document', { document_id: nth(4) })).rejects.toMatchObject(code('NOT_FOUND'));
    await t.run('restore_document', { document_id: nth(1) });
    for (const n of [1, 2, 3]) expect((await t.document(n))?.delete_at).toBeUndefined();
    expect((await t.document(4))?.delete_at).toBeDefined();
    await t.run('restore_document', { document_id: nth(4) });
    expect(await t.children(1)).toEqual([2, 4]);
    expect((await t.history(4)).map(({ action }) => action)).toEqual(['created', 'deleted', 'restored']);
    await expect(t.run('restore_document', { document_id: nth(4) })).rejects.toMatchObject(code('CONFLICT'));
  });

  tree('[KNOW-15] a planned deletion holds for what comes under it, and can be called off', async (t) => {
    const delete_at = new Date(NOW + 60_000).toISOString();
    for (const [n, parent] of [[1], [2, 1], [5]] as const) await t.create(n, parent);
    const planned = await t.run('delete_document', { document_id: nth(1), delete_at });
    expect(planned.result).toMatchObject({ deleted: false, delete_at });
    await t.create(3, 2);
    await t.run('move_document', { document_id: nth(5), new_parent_id: nth(3) });
    for (const n of [2, 3, 5]) expect(await t.document(n)).toMatchObject({ delete_at, delete_root: nth(1) });
    await t.run('move_document', { document_id: nth(3), new_parent_id: 'root' });
    for (const n of [3, 5]) expect((await t.document(n))?.delete_at).toBeUndefined();
    const later = { now: NOW + 60_000 };
    await expect(
      t.run('move_document', { document_id: nth(2), new_parent_id: 'root' }, later),
    ).rejects.toMatchObject(code('NOT_FOUND'));
    await t.run('restore_document', { document_id: nth(1) }, later);
    await t.run('move_document', { document_id: nth(2), new_parent_id: 'root' }, later);
  });

  tree(
    '[KNOW-15] [C-ENV-15] after 90 days a deleted document is purged, a part at a time; the log tells of it',
    async (t, { store }) => {
      const { workspace_id } = t;
      await t.create(0);
      await Promise.all(
        Array.from({ length: 450 }, (_, i) => t.create(i + 1, i % 3 === 2 ? i : 0, `text ${i % 7}`)),
      );
      await t.create(900, undefined, '[[title 5]]');
      await t.run('delete_document', { document_id: nth(0) });
      const purge = (now: number) => t.run('purge_document', { document_id: nth(0) }, { now });
      expect((await purge(NOW + PURGE_AFTER_MS - 1)).result).toEqual({ purged: 0, more: false });
      let rounds = 0;
      for (let more = true; more; rounds++) more = (await purge(NOW + PURGE_AFTER_MS)).result.more;
      expect(rounds).toBe(3);
      for (const kind of ['branch', 'revision', 'content', 'name'] as const)
        expect(await store.records({ kind, workspace_id, limit: 1e4 })).toHaveLength(1);
      expect(await t.document(7)).toMatchObject({ metadata: { title: '' }, sha256: '', bytes: 0 });
      await expect(t.create(7)).rejects.toMatchObject(code('CONFLICT'));
    },
    'long',
  );

  tree('[KNOW-16] [C-ENV-16] nothing comes to stand under itself', async (t) => {
    for (const [n, parent] of [[1], [2, 1], [3, 2], [4, 3]] as const) await t.create(n, parent);
    for (const target of [1, 2, 4])
      await expect(
        t.run('move_document', { document_id: nth(1), new_parent_id: nth(target) }),
      ).rejects.toMatchObject(code('CONFLICT'));
    await expect(
      t.run('move_document', { document_id: nth(1), new_parent_id: 'nowhere' }),
    ).rejects.toMatchObject(code('NOT_FOUND'));
    const both = await Promise.allSettled([
      t.run('move_document', { document_id: nth(3), new_parent_id: 'root' }),
      t.run('move_document', { document_id: nth(1), new_parent_id: nth(4) }),
      t.run('move_document', { document_id: nth(3), new_parent_id: nth(2) }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(await t.children()).toEqual([3]);
  });

  tree('[KNOW-16] [C-ENV-17] siblings stand where they were put', async (t) => {
    for (const n of [1, 2, 3, 4]) await t.create(n);
    const move = (n: number, position?: { before?: string; ordering?: number }, parent = 'root') =>
      t.run('move_document', {
        document_id: nth(n),
        new_parent_id: parent,
        ...(position === undefined ? {} : { position }),
      });
    await move(4, { before: nth(1) });
    expect(await t.children()).toEqual([4, 1, 2, 3]);
    await move(4);
    expect(await t.children()).toEqual([1, 2, 3, 4]);
    await move(1, { ordering: 2 });
    expect(await t.children()).toEqual([2, 3, 1, 4]);
    await move(1, { ordering: 0 });
    await move(2, { ordering: 99 });
    expect(await t.children()).toEqual([1, 3, 4, 2]);
    await move(3, { before: nth(4) });
    expect(await t.children()).toEqual([1, 3, 4, 2]);
    await t.create(5, 1);
    for (const before of [nth(3), nth(5), nth(99), 'root'])
      await expect(move(3, { before })).rejects.toMatchObject(code('VALIDATION_ERROR'));
    await t.run('delete_document', { document_id: nth(1) });
    await move(2, { ordering: 1 });
    expect(await t.children()).toEqual([1, 3, 2, 4]);
    // One that is to go later is still there and counts; one that has gone does not.
    const delete_at = new Date(NOW + 1_000).toISOString();
    await t.run('delete_document', { document_id: nth(3), delete_at });
    await move(4, { ordering: 1 });
    expect(await t.children()).toEqual([1, 3, 4, 2]);
    await t.run(
      'move_document',
      { document_id: nth(2), new_parent_id: 'root', position: { ordering: 0 } },
      { now: NOW + 2_000 },
    );
    expect(await t.children()).toEqual([1, 3, 2, 4]);
  });

  tree(
    '[KNOW-16] keys that have grown long are made short, and the order stays',
    async (t) => {
      for (let n = 1; n <= 4; n++) await t.create(n);
      const move = (i: number) =>
        t.run('move_document', {
          document_id: nth(1 + (i % 2)),
          new_parent_id: 'root',
          position: { before: nth(3) },
        });
      const moved = await Promise.all(Array.from({ length: 1_000 }, (_, i) => move(i)));
      const longest = Math.max(...moved.map(({ result }) => (isIgnored(result) ? 0 : result.order.length)));
      expect(longest).toBeGreaterThan(ORDER_MAX);
      const before = await t.children();
      const { reached } = await t.run('tidy_order', { document_id: nth(2) });
      expect(reached).toHaveLength(1);
      expect(await t.children()).toEqual(before);
      for (const n of before) expect((await t.document(n))?.order.length).toBeLessThan(4);
      // Of many that ask for it at once the first has done it.
      expect((await t.run('tidy_order', { document_id: nth(2) })).reached).toBeUndefined();
    },
    'long',
  );

  tree(
    '[KNOW-16] [R10] a long key is made short among its neighbours, the other siblings stay',
    async (t) => {
      const many = 260;
      for (let n = 1; n <= many; n++) await t.create(n);
      await Promise.all(
        Array.from({ length: 1_000 }, (_, i) =>
          t.run('move_document', {
            document_id: nth(130 + (i % 2)),
            new_parent_id: 'root',
            position: { before: nth(132) },
          }),
        ),
      );
      const orders = async (): Promise<(string | undefined)[]> =>
        Promise.all(Array.from({ length: many }, async (_, i) => (await t.document(i + 1))?.order));
      const [before, children] = [await orders(), await t.children()];
      const long = before.findIndex((order = '') => order.length > ORDER_MAX) + 1;
      await t.run('tidy_order', { document_id: nth(long) });
      const after = await orders();
      expect(await t.children()).toEqual(children);
      expect(after.filter((order, i) => order !== before[i]).length).toBeLessThanOrEqual(201);
      expect(after.slice(0, 20)).toEqual(before.slice(0, 20));
      expect(after.slice(-20)).toEqual(before.slice(-20));
      for (const order of after) expect(order?.length).toBeLessThan(8);
    },
    'long',
  );

  tree('[KNOW-9] [C-AUTH-21] the rules let each role do what is its own, and no more', async (t) => {
    const by = (role: 'operator' | 'orchestrator' | 'worker' | 'observer', name: string = role) => ({
      caller: callerOf(name, t.workspace_id, role),
    });
    const creating = (n: number, parent_id = 'root') => ({
      document_id: nth(n),
      parent_id,
      content: { mime_type: 'text/plain', body: '' } as const,
      metadata: { title: 'x' },
      is_human_readable: true,
    });
    await t.run('create_document', creating(1), by('operator'));
    await t.run('create_document', creating(2), by('orchestrator'));
    await t.run('create_document', creating(3, nth(1)), by('worker'));
    await expect(t.run('create_document', creating(4), by('observer'))).rejects.toMatchObject(
      code('FORBIDDEN'),
    );
    const under = (...agents_create_under: string[]) => ({ ...by('worker'), agents_create_under });
    await t.run('create_document', creating(5, nth(3)), under(nth(1)));
    // Anywhere but at the top.
    await t.run('create_document', creating(8, nth(2)), under('*'));
    await expect(t.run('create_document', creating(9), under('*'))).rejects.toMatchObject(code('FORBIDDEN'));
    await t.run('create_document', creating(9), under('root'));
    for (const places of [[], [nth(2)], [nth(5)]])
      await expect(t.run('create_document', creating(6, nth(3)), under(...places))).rejects.toMatchObject(
        code('FORBIDDEN'),
      );
    for (const role of ['worker', 'observer'] as const) {
      const document_id = nth(1);
      const refused = [
        t.run('update_document', { document_id, patch: {}, update_mask: ['metadata.source'] }, by(role)),
        t.run('delete_document', { document_id }, by(role)),
        t.run('restore_document', { document_id }, by(role)),
        t.run('move_document', { document_id, new_parent_id: 'root' }, by(role)),
        t.run('revert_document', { document_id, revision: 1 }, by(role)),
      ];
      for (const one of refused) await expect(one).rejects.toMatchObject(code('FORBIDDEN'));
    }
    expect((await t.document(1))?.revision).toBe(1);
  });

  tree('[KNOW-7] a number lower than the last of its context is not carried out', async (t) => {
    const context_id = 'c';
    const create = async (n: number, seq: number, context = context_id) =>
      (
        await t.run(
          'create_document',
          {
            document_id: nth(n),
            parent_id: 'root',
            content: { mime_type: 'text/plain', body: '' },
            metadata: { title: 'x' },
            is_human_readable: true,
          },
          { order: { context_id: context, seq } },
        )
      ).result;
    expect(await create(1, 5)).toMatchObject({ revision: 1 });
    expect(await create(2, 3)).toEqual({ ignored: true, last_seq: 5 });
    expect(await create(3, 5)).toMatchObject({ revision: 1 });
    expect(await create(4, 3, 'another')).toMatchObject({ revision: 1 });
    expect(await t.children()).toEqual([1, 3, 4]);
  });

  tree(
    '[KNOW-16] 32 writers on one tree lose nothing, make no ring and leave one order',
    async (t, { store }) => {
      for (let n = 0; n < 8; n++) await t.create(n);
      let made = 8;
      const acknowledged: { id: string; revision: number }[] = [];
      await Promise.all(
        Array.from({ length: 32 }, async (_, writer) => {
          const caller = callerOf(`w${writer}`, t.workspace_id, 'orchestrator');
          let draw = writer * 7_919 + 1;
          const below = (bound: number): number => (draw = (draw * 48_271) % 2_147_483_647) % bound;
          for (let i = 0; i < 12; i++) {
            const document_id = nth(below(made));
            const title = `${writer} ${i}`;
            const parent = below(3) === 0 ? 'root' : nth(below(made));
            const what = below(6);
            const change =
              what === 0
                ? t.run(
                    'create_document',
                    {
                      document_id: nth(made++),
                      parent_id: parent,
                      content: { mime_type: 'text/markdown', body: `[[title ${below(9)}]]` },
                      metadata: { title },
                      is_human_readable: true,
                    },
                    { caller },
                  )
                : what === 1
                  ? t.run(
                      'update_document',
                      { document_id, patch: { metadata: { title } }, update_mask: ['metadata.title'] },
                      { caller },
                    )
                  : what === 2 && below(4) === 0
                    ? t.run('delete_document', { document_id }, { caller })
                    : what === 3
                      ? t.run('restore_document', { document_id }, { caller })
                      : t.run(
                          'move_document',
                          { document_id, new_parent_id: parent, position: { ordering: below(4) } },
                          { caller },
                        );
            const { result } = await change.catch((error: unknown) => {
              expect(['CONFLICT', 'NOT_FOUND']).toContain((error as { code: string }).code);
              return { result: undefined };
            });
            if (result !== undefined) acknowledged.push(result as { id: string; revision: number });
          }
        }),
      );
      expect(acknowledged.length).toBeGreaterThan(100);
      const query = { kind: 'revision', workspace_id: t.workspace_id, limit: 1e5 } as const;
      const reported = new Set(
        (await store.records(query)).map((one) => `${one.document_id} ${one.revision}`),
      );
      for (const { id, revision } of acknowledged) expect(reported).toContain(`${id} ${revision}`);
      expect(reported.size).toBe(acknowledged.length + 8);
      const found = await store.records({ kind: 'document', workspace_id: t.workspace_id, limit: 1e5 });
      const parentOf = new Map(found.map((one) => [one.document_id, one.parent_id]));
      const reached = new Set<string>();
      const open = ['root'];
      for (let at = open.pop(); at !== undefined; at = open.pop())
        for (const [id, parent] of parentOf)
          if (parent === at && !reached.has(id)) {
            reached.add(id);
            open.push(id);
          }
      expect(reached.size).toBe(found.length);
      expect(new Set(found.map((one) => `${one.parent_id} ${one.order}`)).size).toBe(found.length);
    },
    'long',
  );
}
