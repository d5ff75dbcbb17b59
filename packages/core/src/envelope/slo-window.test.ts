import { expect, test } from 'vitest';

import { createSloWindow, LATENCY_BOUNDS_MS, quantile } from './slo-window.ts';

test('[KNOW-23] a percentile is read off the bounds as Prometheus reads it', () => {
  const slo = createSloWindow({ now: () => 0 });
  for (let i = 0; i < 100; i++) slo.answered('w', 'internal', i < 90 ? 80 : 200, undefined);
  const { internal, external } = slo.last('w', 1).tally.latency;
  // 95 of 100: half of the ten between 100 and 250 ms.
  expect(quantile(internal, 0.95)).toBe(175);
  expect(quantile(external, 0.95)).toBeNull();
  slo.answered('w', 'external', 60_000, 'UNAVAILABLE');
  expect(quantile(slo.last('w', 1).tally.latency.external, 0.95)).toBe(LATENCY_BOUNDS_MS.at(-1));
});

test('[C-ENV-32] very many workspaces within an hour stay bounded', () => {
  const slo = createSloWindow({ now: () => 0 });
  for (let i = 0; i < 10_000; i++) slo.answered(`w${i}`, 'internal', 1, undefined);
  expect(slo.dump()).toHaveLength(200);
});
