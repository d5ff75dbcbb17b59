import { expect, test } from 'vitest';

import { createQuota, createQuotas, createWindow, rateLimited } from './quota.ts';

function quotaAt(per_minute: number, burst: number, create = createQuota) {
  let time = 0;
  const quota = create(
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

test('[HUB-R8] namesakes in two workspaces share nothing, neither what they spend nor what they have open', () => {
  const limits = { per_minute: 60, burst: 1 };
  const clock = { now: () => 0, monotonic: () => 0, trusted: () => 0 };
  const quotas = createQuotas({ message: limits, write: limits, search: limits, open: 1 }, clock);
  const caller = (workspace_id: string) =>
    ({ agent_id: 'alice', workspace_id, role: 'worker', session_id: 's' }) as const;
  for (const workspace of ['w1', 'w2']) {
    quotas.spend(caller(workspace), 'message');
    expect(() => quotas.spend(caller(workspace), 'message')).toThrow('your message quota is used up');
  }
  const release = quotas.hold(caller('w1'));
  quotas.hold(caller('w2'));
  expect(() => quotas.hold(caller('w1'))).toThrow('are open; end some first');
  release();
  expect(() => quotas.hold(caller('w2'))).toThrow('are open; end some first');
  quotas.hold(caller('w1'));
});

test('the refusal tells when to come back', () => {
  expect(rateLimited('too much', 250)).toMatchObject({
    code: 'RATE_LIMITED',
    details: { retry_after_ms: 250 },
  });
});

test('[LIVE-11] [C-WS-16] a minute is a minute: sixty of them in any one, whenever it begins', () => {
  const { quota, pass } = quotaAt(60, 60, createWindow);
  const taken: number[] = [];
  for (let at = 0; at < 300_000; at += 100) {
    if (quota.take('a') === 0) taken.push(at);
    pass(100);
  }
  for (const from of taken)
    expect(taken.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(60);
  expect(taken).toHaveLength(5 * 60);
});

test('[LIVE-11] after sixty at once the next waits until the minute is over, and as told is enough', () => {
  const { quota, pass } = quotaAt(60, 60, createWindow);
  for (let i = 0; i < 60; i++) expect(quota.take('a')).toBe(0);
  expect(quota.take('a')).toBe(60_000);
  expect(quota.take('b')).toBe(0);
  pass(20_000);
  expect(quota.take('a')).toBe(40_000);
  pass(40_000);
  for (let i = 0; i < 60; i++) expect(quota.take('a')).toBe(0);
  expect(quota.take('a')).toBe(60_000);
});

test('[LIVE-11] a burst is held within any second', () => {
  const { quota, pass } = quotaAt(1_000, 3, createWindow);
  expect([1, 2, 3, 4].map(() => quota.take('a'))).toEqual([0, 0, 0, 1_000]);
  pass(1_000);
  expect([1, 2, 3, 4].map(() => quota.take('a'))).toEqual([0, 0, 0, 1_000]);
});
