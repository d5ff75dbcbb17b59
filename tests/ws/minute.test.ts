import { expect, test } from 'vitest';

import { fakeClock } from '../harness/fake-clock.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { dial, type LiveClient } from './live-client.ts';

describeWith(['libfaketime'], 'the minute of a client of /ws', ({ libfaketime }) => {
  // The clock that counts the minute moves too.
  const { move, env } = fakeClock(libfaketime, { monotonic: 'moves' });
  const scene = useHub({ env });

  const served = async (client: LiveClient): Promise<number> => {
    for (let count = 0; ; count++) {
      const { type, payload } = await client.ask('command', 'parley', { command: 'live_stats' });
      if (type === 'command_response') continue;
      expect(payload).toMatchObject({
        code: 'RESOURCE_EXHAUSTED',
        recoverable: true,
        details: { reason: 'rate_limited', retry_after_ms: expect.any(Number) as number },
      });
      return count;
    }
  };

  test('[LIVE-11] [C-WS-16] of 61 requests in a minute 60 are served, and again after it', async () => {
    const client = await dial(scene.hub.url, 'ann', scene.as('ann', { role: 'operator' }).token);
    expect(await served(client)).toBe(60);
    move(30_000);
    expect(await served(client)).toBe(0);
    move(61_000);
    expect(await served(client)).toBe(60);
    expect(client.end()).toBeUndefined();
  });
});
