import { type Ask, type Caller, ParleyError } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';

const bob: Caller = { agent_id: 'bob', workspace_id: 'w', role: 'worker', session_id: 'bob-1' };

test('[R7] an ask that is on record though its agent was told of an error ends in time, without a restart', async () => {
  const kept = openMemoryStore();
  let failedReads = 0;
  let isLost = false;
  const store: Store = {
    ...kept,
    async transact(command) {
      const committed = await kept.transact(command);
      if (command.type !== 'raise_ask' || isLost) return committed;
      isLost = true;
      throw new ParleyError('UNAVAILABLE', 'nobody knows');
    },
    async records(query) {
      if (query.kind === 'ask' && failedReads++ === 0) throw new ParleyError('UNAVAILABLE', 'not now');
      return kept.records(query);
    },
  };
  const time = { now: Date.parse('2030-01-01T00:00:00Z') };
  const { call, deps } = openSampleHub(store, time);
  const raise = () =>
    call(bob, 'raise_ask', { prompt: 'May I?', expires_in_ms: 60_000, idempotency_key: 'one' });
  await expect(raise()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const { ask } = (await raise()) as { ask: Ask };
  await vi.waitFor(() => expect(deps.asks.openOf('w', 'bob')).toBe(1), 10_000);
  time.now += 60_001;
  await vi.waitFor(async () => {
    const [found] = await kept.records({ kind: 'ask', workspace_id: 'w', keys: [ask.ask_id], limit: 1 });
    expect(found).toMatchObject({ status: 'resolved', verdict: { decision: 'denied' } });
  }, 10_000);
  deps.asks.close();
});
