import { CONTRACTS } from '@parley/protocol';
import { expect, test } from 'vitest';

import { openPresence, PRESENCE_CALLS, type PresenceCalls } from './presence.ts';

test('the calls of a presence are what their contracts say: each has a key, none waits', () => {
  for (const name of PRESENCE_CALLS) {
    const { shape } = CONTRACTS[name].input;
    expect(shape).toHaveProperty('idempotency_key');
    expect(shape).not.toHaveProperty('timeout_ms');
  }
});

test('the last word of a session is that it is gone, however long a heartbeat before it takes', async () => {
  const arrived: unknown[] = [];
  let letThrough: (() => void) | undefined;
  const calls = {
    register_agent: async () => ({ agent_id: 'builder' }),
    update_agent_status: async () => ({}),
    async heartbeat_session({ status }: { status: string }) {
      // The first is quick; the one after it takes its time, as at a node that is busy.
      if (arrived.length === 1 && status !== 'offline')
        await new Promise<void>((resolve) => (letThrough = resolve));
      arrived.push(status);
      return {};
    },
  } as unknown as PresenceCalls;
  const presence = await openPresence(calls, { name: 'b', url: '', token: '', heartbeatMs: 5 });
  await expect.poll(() => letThrough).toBeDefined();
  const closed = presence.close();
  await new Promise((resolve) => setTimeout(resolve, 30));
  letThrough?.();
  await closed;
  expect(arrived).toEqual(['idle', 'idle', 'offline']);
});
