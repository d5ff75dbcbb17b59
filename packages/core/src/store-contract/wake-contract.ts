import { expect } from 'vitest';

import type { NoteWake } from '../commands.ts';
import { journalId } from '../threads/access.ts';
import { type Check, head, NOW, type Scene } from './scene.ts';

const HOUR_MS = 3_600_000;

/** A command that puts a wake of bob on record, asked for by an agent. */
export function waking(
  { alice, workspace_id, t }: Pick<Scene, 'alice' | 'workspace_id' | 't'>,
  number: number,
  { by = 'alice', now = NOW, budget = { pairPerHour: 2, targetPerHour: 3 } } = {},
): NoteWake {
  const wake = {
    trigger_id: `wk_${String(number).padStart(3, '0')}`,
    workspace_id,
    thread_id: t,
    target_agent_id: 'bob',
    by,
    human: false,
    reason: 'test',
    first_seq: 1,
    through_seq: 1,
    asked_at: new Date(now).toISOString(),
    state: 'open',
    deferred_ms: 0,
    tries: 0,
    passed: [],
  } as const;
  return {
    type: 'note_wake',
    ...head({ ...alice, agent_id: by }, now),
    thread_id: journalId(workspace_id, 'bob'),
    input: { thread_id: t, target_agent_id: 'bob', reason: 'test' },
    wake: { ...wake, passed: [] },
    step: { text: 'asked', facts: { step: 'asked' } },
    budget,
  };
}

/** What waking agents costs is counted beside the log, so that nothing but time gives it back. */
export function testWakes(check: Check): void {
  check(
    'wakes are counted for each pair and each target, and no more than the budget pass',
    async (scene) => {
      const { store } = scene;
      const state = async (command: NoteWake) => (await store.transact(command)).result.state;
      expect(await state(waking(scene, 1))).toBe('open');
      expect(await state(waking(scene, 2))).toBe('open');
      expect(await state(waking(scene, 3))).toBe('skipped');
      expect(await state(waking(scene, 4, { by: 'carl' }))).toBe('open');
      expect(await state(waking(scene, 5, { by: 'dora' }))).toBe('skipped');
      const { workspace_id } = scene;
      const wakes = await store.records({ kind: 'wake', workspace_id, limit: 9 });
      expect(wakes.map(({ state: is, skip }) => skip ?? is)).toEqual([
        'open',
        'open',
        'budget',
        'open',
        'budget',
      ]);
      const page = {
        workspace_id,
        thread_id: journalId(workspace_id, 'bob'),
        after: 0,
        limit: 9,
        max_bytes: 1e9,
      };
      expect((await store.page(page)).entries.map(({ metadata }) => metadata?.['step'])).toEqual([
        'asked',
        'asked',
        'skipped',
        'asked',
        'skipped',
      ]);
    },
  );

  check('of wakes that are asked for at once only the budget passes', async (scene) => {
    const asked = Array.from({ length: 20 }, (_, i) => scene.store.transact(waking(scene, i)));
    const states = (await Promise.all(asked)).map(({ result }) => result.state);
    expect(states.filter((state) => state === 'open')).toHaveLength(2);
  });

  check('an hour gives the budget back, and a clock that jumps back keeps nobody longer', async (scene) => {
    const { store, workspace_id } = scene;
    const state = async (command: NoteWake) => (await store.transact(command)).result.state;
    const later = NOW + 24 * HOUR_MS;
    await store.transact(waking(scene, 1, { now: later }));
    await store.transact(waking(scene, 2, { now: later }));
    expect(await state(waking(scene, 3, { now: later + HOUR_MS - 1 }))).toBe('skipped');
    expect(await state(waking(scene, 4, { now: later + HOUR_MS }))).toBe('open');
    await store.transact(waking(scene, 5, { now: NOW }));
    expect(await state(waking(scene, 6, { now: NOW }))).toBe('skipped');
    expect(await state(waking(scene, 7, { now: NOW + HOUR_MS }))).toBe('open');
    const [tally] = await store.records({ kind: 'tally', workspace_id, limit: 9 });
    expect(tally?.wakes).toHaveLength(1);
  });
}
