import { expect } from 'vitest';

import type { PostMessage, TakeLease } from '../commands.ts';
import { hubCaller, OWN_WORKSPACE } from '../hub-caller.ts';
import { isLeaseLost } from '../leases/lease-record.ts';
import { bodies, type Check, head, NOW, posting, type Scene } from './scene.ts';

/** One owner of each job at a time: whoever comes after gets a higher epoch, and what came before it writes no more. */
export function testLeases(check: Check): void {
  /** After the clock of the machine, by which a store decides when that is later. */
  const later = NOW + 1_000_000_000_000;
  const take = ({ store, workspace_id }: Scene, owner: string, ttl_ms?: number, now = NOW) => {
    const input = { name: workspace_id, owner, ...(ttl_ms === undefined ? {} : { ttl_ms }) };
    const command: TakeLease = { type: 'take_lease', ...head(hubCaller(OWN_WORKSPACE), now), input };
    return store.transact(command).then(({ result }) => result);
  };
  const epochOf = async (...asked: Parameters<typeof take>) => (await take(...asked)).epoch;
  const time = (at: number) => new Date(at).toISOString();
  const underEpoch = ({ t, alice, workspace_id }: Scene, body: string, epoch: number): PostMessage => ({
    ...posting(t, body, alice),
    fence: { lease: workspace_id, epoch },
  });

  check(
    '[R2] of two who want a lease one gets it, until its time is over or it is given back',
    async (scene) => {
      const { store, workspace_id } = scene;
      const first = await Promise.allSettled([
        take(scene, 'a', 60_000, later),
        take(scene, 'b', 60_000, later),
        take(scene, 'c', 60_000, later),
      ]);
      expect(first.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(first[1]).toMatchObject({ reason: { code: 'CONFLICT', details: { lease: workspace_id } } });
      // Who has it renews it under its epoch.
      expect(await epochOf(scene, 'a', 60_000, later + 40_000)).toBe(1);
      await expect(take(scene, 'b', 60_000, later + 99_999)).rejects.toMatchObject({ code: 'CONFLICT' });
      // Who comes next hears when the one before took it last, or gave it back.
      const second = await take(scene, 'b', 60_000, later + 100_000);
      expect(second).toEqual({ epoch: 2, last_held: time(later + 40_000) });
      await expect(take(scene, 'a', 60_000, later + 100_001)).rejects.toMatchObject({ code: 'CONFLICT' });
      const input = { name: workspace_id, owner: 'a' };
      const by = head(hubCaller(OWN_WORKSPACE), later + 130_000);
      const release = { type: 'release_lease', ...by, input } as const;
      await store.transact(release);
      await expect(take(scene, 'c', 60_000, later + 100_001)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store.transact({ ...release, input: { ...input, owner: 'b' } });
      const third = await take(scene, 'c', 60_000, later + 140_000);
      expect(third).toEqual({ epoch: 3, last_held: time(later + 130_000) });
      // A clock that was set back holds nobody up for longer than a lease lasts.
      expect(await epochOf(scene, 'a', 60_000, later - 86_400_000)).toBe(4);
    },
  );

  check('[R2] what an owner writes after another came is refused, and leaves no trace', async (scene) => {
    const { store, workspace_id, page } = scene;
    const before = store.transact(underEpoch(scene, 'of nobody', 1));
    await expect(before).rejects.toSatisfy(isLeaseLost);
    expect(await epochOf(scene, 'a')).toBe(1);
    expect(await epochOf(scene, 'a')).toBe(1);
    await store.transact(underEpoch(scene, 'of the first', 1));
    expect(await epochOf(scene, 'b')).toBe(2);
    // One that was asked for at the same moment is decided after it.
    const [third, late] = await Promise.allSettled([
      epochOf(scene, 'c'),
      store.transact(underEpoch(scene, 'of the second, too late', 2)),
    ]);
    expect(third).toMatchObject({ status: 'fulfilled', value: 3 });
    expect(late).toMatchObject({ status: 'rejected', reason: { code: 'CONFLICT' } });
    await expect(store.transact(underEpoch(scene, 'of the first, late', 1))).rejects.toSatisfy(isLeaseLost);
    await expect(store.transact(underEpoch(scene, 'of one to come', 4))).rejects.toSatisfy(isLeaseLost);
    await store.transact(underEpoch(scene, 'of the third', 3));
    await scene.say('of somebody without a job');
    expect(bodies(await page())).toEqual(['of the first', 'of the third', 'of somebody without a job']);
    const held = await store.records({ kind: 'lease', workspace_id: OWN_WORKSPACE, limit: 1_000 });
    expect(held.find(({ name }) => name === workspace_id)).toMatchObject({ owner: 'c', epoch: 3 });
  });
}
