import { expect, test } from 'vitest';

import { wakeOnce } from './wake-once.ts';

const hub = { agentId: 'parley', role: 'orchestrator' } as const;

test('[HUB-W7] a wake that comes again is taken once, also while the first is under way; what was refused or failed is tried again', async () => {
  const taken: string[] = [];
  const answers: (() => unknown)[] = [
    () => ({ delivered: false, reason: 'session_busy', deferred: true }),
    () => {
      throw new Error('no inbox');
    },
    () => new Promise((resolve) => setTimeout(resolve, 20, { delivered: true, proof: 'runtime_record' })),
    () => undefined,
  ];
  const wake = wakeOnce(({ trigger_id }) => {
    taken.push(String(trigger_id));
    return answers[taken.length - 1]?.();
  });
  expect(await wake({ trigger_id: 'wk_1' }, hub)).toMatchObject({ delivered: false });
  await expect(wake({ trigger_id: 'wk_1' }, hub)).rejects.toThrow('no inbox');
  const reported = { delivered: true, proof: 'runtime_record' };
  const twice = [wake({ trigger_id: 'wk_1' }, hub), wake({ trigger_id: 'wk_1', again: true }, hub)];
  expect(await Promise.all(twice)).toEqual([reported, reported]);
  expect(await wake({ trigger_id: 'wk_1', again: true }, hub)).toEqual(reported);
  // An agent of one's own making says nothing: that it answers is enough.
  expect(await wake({ trigger_id: 'wk_2' }, hub)).toBeUndefined();
  expect(await wake({ trigger_id: 'wk_2', again: true }, hub)).toBeUndefined();
  expect(taken).toEqual(['wk_1', 'wk_1', 'wk_1', 'wk_2']);
});
