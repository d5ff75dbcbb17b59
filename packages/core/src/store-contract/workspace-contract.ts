import { expect } from 'vitest';

import type { WorkspacePage, WorkspaceQuery } from '../store.ts';
import { type Check, creating, head, posting, type Scene } from './scene.ts';

const bodies = ({ rows }: WorkspacePage): string[] => rows.map(({ entry }) => entry.body);

/** The log of a workspace over all its threads: positions that rise, pages that chain, nothing of other workspaces. */
export function testWorkspace(check: Check): void {
  const reader =
    ({ store, workspace_id }: Scene) =>
    (more: Partial<WorkspaceQuery> = {}) =>
      store.workspace({
        workspace_id,
        participant: undefined,
        after: 0,
        limit: 1_000,
        max_bytes: 1e9,
        ...more,
      });

  check(
    'a workspace’s log has every entry of its threads, in the order they were accepted',
    async (scene) => {
      const { store, alice, carol, t, say } = scene;
      await say('1');
      await store.transact(creating(`${t}-foreign`, carol));
      await store.transact(creating(`${t}-own`, alice));
      const { reached } = await store.transact(posting(`${t}-own`, '2', alice));
      await store.transact(posting(`${t}-foreign`, 'foreign', carol));
      await say('3');
      const read = reader(scene);
      const all = await read();
      expect(bodies(all)).toEqual([t, '1', `${t}-own`, '2', '3']);
      const positions = all.rows.map(({ pos }) => pos);
      expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b));
      expect(all.rows[3]?.pos).toBe(reached?.[0]?.pos);
      expect(all.has_more).toBe(false);
      expect(all.next).toBeGreaterThanOrEqual(positions.at(-1) ?? 0);
      expect(bodies(await read({ after: all.rows[2]?.pos ?? 0 }))).toEqual(['2', '3']);
      expect(await read({ after: all.next })).toEqual({ rows: [], next: all.next, has_more: false });
      expect(await store.position(scene.workspace_id)).toBe(all.next);
    },
  );

  check(
    '[R2] [R4] [R12] each workspace counts its own entries from 1 on, however the hub accepted them',
    async (scene) => {
      const { store, alice, carol, t, workspace_id, say } = scene;
      const other = carol.workspace_id;
      const before = await store.position(other);
      await store.transact(creating(`${t}-foreign`, carol));
      const own: unknown[] = [];
      const foreign: unknown[] = [];
      for (let i = 1; i <= 7; i++) {
        own.push((await store.transact(posting(t, `own ${i}`, alice))).reached?.[0]?.pos);
        for (let j = 0; j < i % 3; j++)
          foreign.push(
            (await store.transact(posting(`${t}-foreign`, `foreign ${i}`, carol))).reached?.[0]?.pos,
          );
      }
      await Promise.all([say('at once'), store.transact(posting(`${t}-foreign`, 'at once', carol))]);
      expect(own).toEqual([2, 3, 4, 5, 6, 7, 8]);
      expect(foreign).toEqual([2, 3, 4, 5, 6, 7, 8].slice(0, foreign.length).map((n) => n + before));
      expect(await store.position(workspace_id)).toBe(9);
      expect(await store.position(other)).toBe(before + foreign.length + 2);
      expect(await store.position(`${t} nobody`)).toBe(0);
      const read = reader(scene);
      const whole = (await read()).rows;
      expect(whole.map(({ pos }) => pos)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      for (let after = 0; after <= 10; after++) {
        const page = await read({ after });
        expect(page).toEqual({ rows: whole.slice(after), next: Math.max(9, after), has_more: false });
        expect(await store.placeOf(workspace_id, after)).toBe(after);
      }
    },
  );

  check('[R12] the housekeeping lists every workspace once, with how far it has come', async (scene) => {
    const { store, carol, t, workspace_id, say } = scene;
    await store.transact(creating(`${t}-foreign`, carol));
    await say('1');
    const heads = [];
    for (let past = ''; ;) {
      const [one] = await store.heads({ past, limit: 1 });
      if (one === undefined) break;
      heads.push(one);
      past = one.workspace_id;
    }
    expect(heads.map((one) => one.workspace_id)).toEqual(heads.map((one) => one.workspace_id).toSorted());
    expect(heads).toContainEqual({ workspace_id, pos: 2 });
    for (const one of heads) expect(await store.position(one.workspace_id)).toBe(one.pos);
    expect(await store.size()).toBe(heads.reduce((sum, { pos }) => sum + pos, 0));
    expect(await store.heads({ past: '', limit: 1_000 })).toEqual(heads);
  });

  check('[R4] its pages chain exactly, whatever bounds them', async (scene) => {
    const { store, carol, t, say } = scene;
    await store.transact(creating(`${t}-foreign`, carol));
    for (let i = 1; i <= 9; i++) {
      await say(`${i}`.padEnd(1_000, 'x'));
      await store.transact(posting(`${t}-foreign`, 'between', carol));
    }
    const read = reader(scene);
    const whole = (await read()).rows;
    expect(whole).toHaveLength(10);
    for (const bounds of [
      { limit: 1 },
      { limit: 3 },
      { limit: 10 },
      { max_bytes: 3_000 },
      { max_bytes: 1 },
    ]) {
      const seen: WorkspacePage['rows'] = [];
      let page = await read(bounds);
      for (; page.has_more; page = await read({ ...bounds, after: page.next })) {
        expect(page.rows.length).toBeGreaterThan(0);
        expect(page.next).toBe(page.rows.at(-1)?.pos);
        seen.push(...page.rows);
      }
      expect([...seen, ...page.rows]).toEqual(whole);
    }
    expect(bodies(await read({ max_bytes: 3_500, after: whole[0]?.pos ?? 0 }))).toHaveLength(2);
  });

  check(
    '[R12] a participant sees its own threads and their side channels, and those from its invitation on',
    async (scene) => {
      const { store, alice, bob, chief, t, say } = scene;
      await say('shared');
      await store.transact(creating(`${t}-hidden`, alice));
      await store.transact(posting(`${t}-hidden`, 'hidden', alice));
      const input = { title: 'aside', purpose: 'x', participants: [] };
      await store.transact({ type: 'open_side', ...head(alice), thread_id: t, side_id: `${t}-side`, input });
      await store.transact(posting(`${t}-side`, 'in the side channel', alice));
      const read = reader(scene);
      const ofBob = () => read({ participant: 'bob' });
      expect(bodies(await ofBob())).toEqual([
        t,
        'shared',
        'aside',
        'side channel: aside',
        'in the side channel',
      ]);
      expect(bodies(await read({ participant: 'nobody' }))).toEqual([]);
      const control = { invite: { participant_id: 'bob' } } as const;
      await store.transact({
        type: 'control_thread',
        ...head(chief),
        thread_id: `${t}-hidden`,
        input: { control },
      });
      expect(bodies(await ofBob())).toContain('hidden');
      await store.transact(posting(`${t}-hidden`, 'no more', bob));
      expect(bodies(await ofBob()).at(-1)).toBe('no more');
    },
  );
}
