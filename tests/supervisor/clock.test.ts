import { expect, test, vi } from 'vitest';

import { fakeClock } from '../harness/fake-clock.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type Managed, manage } from './managed.ts';

describeWith(['libfaketime'], 'a wall clock that jumps', ({ libfaketime }) => {
  const scene = useHub();

  /** A shell under a supervisor whose wall clock can be moved. */
  async function manageWithClock(options: string[]): Promise<Managed & { move: (ms: number) => void }> {
    const { move, env } = fakeClock(libfaketime);
    const managed = await manage(scene, ['/bin/bash', '--norc', '-i'], {
      options,
      env: { PS1: 'n=\\# > ', ...env },
    });
    await managed.person.sees('n=1 >');
    return { ...managed, move };
  }

  test(
    '[C-WAKE-17] an hour that passes on the wall alone ends no deferral',
    { timeout: 120_000 },
    async () => {
      const shell = await manageWithClock(['--quiet', '2s', '--recheck', '100ms', '--max-defer', '15s']);
      shell.person.type('echo a draft');
      await shell.person.sees('echo a draft');
      const first = await shell.deliver('a message', { delivery_id: 'd', wait_ms: 0 });
      expect(first).toMatchObject({ result: 'deferred', defer_reason: 'human_input_busy' });
      shell.move(3_600_000);
      const second = await vi.waitFor(
        async () => {
          const { deferred } = await shell.ask('terminal_state');
          // The clock has truly moved.
          expect(Date.parse(deferred[0]?.deferred_until ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
          return deferred[0];
        },
        { timeout: 20_000 },
      );
      expect(second?.result).toBe('deferred');
      const error = await shell.refused('terminal_deliver', {
        delivery_id: 'd',
        text: 'a message',
        wait_ms: 30_000,
      });
      expect(error.code).toBe('HUMAN_INPUT_COLLISION');
      const { waited_ms } = error.details as { waited_ms: number };
      expect(waited_ms).toBeGreaterThanOrEqual(15_000);
      expect(waited_ms).toBeLessThan(600_000);
    },
  );

  test('[C-WAKE-18] a wall clock that goes back keeps nothing waiting', { timeout: 120_000 }, async () => {
    const shell = await manageWithClock(['--quiet', '2s', '--recheck', '100ms', '--max-defer', '60s']);
    shell.person.type('echo typed\r');
    await shell.person.sees(/^typed/m);
    const first = await shell.deliver('a message', { delivery_id: 'd', wait_ms: 0 });
    expect(first).toMatchObject({ result: 'deferred', defer_reason: 'human_input_busy' });
    shell.move(-3_600_000);
    expect(await shell.deliver('a message', { delivery_id: 'd' })).toMatchObject({ result: 'submitted' });
    await shell.person.sees('n=3 >');
  });
});
