import { expect, onTestFinished, test, vi } from 'vitest';

import { TokenRefused } from '../../auth/token-refused.ts';
import { CLOSE } from './close-codes.ts';
import { createPulse } from './pulse.ts';
import type { SocketLink } from './socket-link.ts';

/** As `auth.clock_skew_ms` has it unless it is set. */
const SKEW_MS = 30_000;
const RECHECK_MS = 1_000;

test('a socket ends at most twenty seconds after its token, whatever tolerance for clocks new ones enjoy', () => {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  let ended: { code: number; reason: string; at: number } | undefined;
  const link = {
    caller: { exp: 60 },
    beat() {},
    close(code: number, reason: string) {
      ended ??= { code, reason, at: Date.now() };
    },
  } as unknown as SocketLink;
  const pulse = createPulse({
    pingMs: 30_000,
    recheckMs: RECHECK_MS,
    recheck({ exp }) {
      if (exp * 1_000 + SKEW_MS <= Date.now()) throw new TokenRefused('expired');
    },
    now: () => Date.now(),
    monotonic: () => Date.now(),
  });
  pulse.enter(link);
  vi.advanceTimersByTime(60_000 + 19_000);
  expect(ended).toBeUndefined();
  vi.advanceTimersByTime(RECHECK_MS);
  expect(ended).toEqual({
    code: CLOSE.unauthorized,
    reason: 'the token is no longer good: expired',
    at: 80_000,
  });
  pulse.close();
});
