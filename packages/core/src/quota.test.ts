import { expect, test } from 'vitest';

import { createQuota, rateLimited } from './quota.ts';

function quotaAt(per_minute: number, burst: number) {
  let time = 0;
  const quota = createQuota(
    { per_minute, burst },
    { now: () => -time, monotonic: () => time, trusted: () => -time },
  );
  return { quota, pass: (ms: number) => (time += ms) };
}

test('[HUB-R8] a burst is allowed, then one more for each share of the minute', () => {
  const { quota, pass } = quotaAt(60, 3);
  expect([1, 2, 3].map(() => quota.take('a'))).toEqual([0, 0, 0]);
  expect(quota.take('a')).toBe(1_000);
  pass(400);
  expect(quota.take('a')).toBe(600);
  pass(600);
  expect(quota.take('a')).toBe(0);
  expect(quota.take('a')).toBe(1_000);
});

test('[HUB-R8] waiting exactly as told is enough, and a refusal costs nothing', () => {
  const { quota, pass } = quotaAt(7, 1);
  expect(quota.take('a')).toBe(0);
  for (let i = 0; i < 100; i++) expect(quota.take('a')).toBe(8_572);
  pass(8_572);
  expect(quota.take('a')).toBe(0);
});

test('[HUB-R8] a bucket never holds more than its burst, and names do not share', () => {
  const { quota, pass } = quotaAt(600, 2);
  pass(3_600_000);
  expect([quota.take('a'), quota.take('a'), quota.take('a') > 0]).toEqual([0, 0, true]);
  pass(3_600_000);
  expect([quota.take('a'), quota.take('a'), quota.take('a') > 0]).toEqual([0, 0, true]);
  expect(quota.take('b')).toBe(0);
});

test('[R10] those who came back to full are forgotten, those who owe are not', () => {
  const { quota, pass } = quotaAt(60, 2);
  expect([quota.take('owes'), quota.take('owes')]).toEqual([0, 0]);
  for (let i = 0; i < 9_999; i++) quota.take(`name ${i}`);
  pass(1_000);
  for (let i = 0; i < 5_000; i++) expect(quota.take(`late ${i}`)).toBe(0);
  expect(quota.take('owes')).toBe(0);
  expect(quota.take('owes')).toBe(1_000);
});

test('the refusal tells when to come back', () => {
  expect(rateLimited('too much', 250)).toMatchObject({
    code: 'RATE_LIMITED',
    details: { retry_after_ms: 250 },
  });
});
