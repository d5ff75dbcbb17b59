import { expect, test, vi } from 'vitest';

import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import { createNonceKeeper } from './nonce-keeper.ts';

const START = Date.parse('2030-01-01T00:00:00Z');

test('a nonce is forgotten once its time is over, at the start and from time to time, and none before', async () => {
  const clock = { now: START };
  const store = openMemoryStore(() => clock.now);
  const { log, clock: time, chance } = openSampleHub(store, clock).deps;
  for (const [workspace_id, nonce, until] of [
    ['w1', 'over', START - 1],
    ['w1', 'soon', START + 1_000],
    ['w2', 'later', START + 60_000],
  ] as const) {
    const caller = { agent_id: 'svc', workspace_id, role: 'worker', session_id: 's' } as const;
    const head = { caller, now: clock.now, salt: 1 };
    await store.transact({ type: 'use_nonce', ...head, input: { kid: 'k', nonce, until } });
  }
  const kept = async (): Promise<string[]> =>
    (await store.records({ kind: 'nonce', workspace_id: undefined, limit: 10 })).map(({ key }) => key);
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => void faults.push(error);
  const keeper = createNonceKeeper({ store, log, clock: time, chance, everyMs: 5, onFault });
  await keeper.start();
  expect((await kept()).toSorted()).toEqual(['k later', 'k soon']);
  clock.now = START + 2_000;
  await vi.waitFor(async () => expect(await kept()).toEqual(['k later']), 20_000);
  keeper.close();
  expect(faults).toEqual([]);
});
