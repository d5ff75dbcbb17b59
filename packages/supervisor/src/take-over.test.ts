import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createTakeOver, type TakenOver } from './take-over.ts';

const START = Date.parse('2030-01-01T00:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const ended: TakenOver[] = [];
  const changes = { count: 0 };
  let ids = 0;
  const takeOver = createTakeOver({
    now: () => Date.now() - START,
    wallClock: () => Date.now(),
    newId: () => `lock-${++ids}`,
    onChange: () => changes.count++,
    onEnd: (end) => ended.push(end),
  });
  return { takeOver, ended, changes };
}

test('a lock of a connection is prolonged by its id alone, and belongs to nobody else', () => {
  const { takeOver } = open();
  const wish = { holder: 'kim', ttlMs: 60_000, leaseMs: 10_000 };
  const { lock_id } = takeOver.take(wish);
  expect(() => takeOver.take(wish)).toThrow('kim types there until');
  expect(() => takeOver.take({ holder: 'kim', ttlMs: 1_000 })).toThrow('kim types there until');
  expect(() => takeOver.take({ ...wish, holder: 'ann', lockId: lock_id })).toThrow('kim types there until');
  expect(takeOver.take({ ...wish, ttlMs: 90_000, lockId: lock_id })).toEqual({
    lock_id,
    until: '2030-01-01T00:01:30.000Z',
  });
  expect(() => takeOver.check(lock_id, 'ann')).toThrow('does not hold');
  expect(takeOver.fate(lock_id, 'ann')).toBe('lost');
  expect(takeOver.release(lock_id, 'ann', 'given_back')).toBe(false);
  expect(takeOver.held).toMatchObject({ holder: 'kim' });
});

test('a lock that was lost cannot be prolonged: who comes late takes it anew', () => {
  const { takeOver } = open();
  const { lock_id } = takeOver.take({ holder: 'kim', ttlMs: 60_000 });
  takeOver.end('person');
  expect(() => takeOver.take({ holder: 'kim', ttlMs: 60_000, lockId: lock_id })).toThrow('does not hold');
});

test('without a word of its holder it ends after its lease, with one after its time, and is told once', () => {
  const { takeOver, ended, changes } = open();
  const { lock_id } = takeOver.take({ holder: 'kim', ttlMs: 30_000, leaseMs: 10_000 });
  for (let i = 0; i < 4; i++) {
    vi.advanceTimersByTime(7_000);
    expect(takeOver.fate(lock_id, 'kim')).toBe('held');
  }
  vi.advanceTimersByTime(2_000);
  expect(takeOver.fate(lock_id, 'kim')).toBe('time');
  expect(ended).toEqual([
    { holder: 'kim', from: '2030-01-01T00:00:00.000Z', to: '2030-01-01T00:00:30.000Z', ended: 'time' },
  ]);
  const silent = takeOver.take({ holder: 'kim', ttlMs: 30_000, leaseMs: 10_000 });
  // By its own clock, though nobody asks.
  vi.advanceTimersByTime(10_000);
  expect(ended.at(-1)).toMatchObject({ ended: 'lost', to: '2030-01-01T00:00:40.000Z' });
  expect(takeOver.fate(silent.lock_id, 'kim')).toBe('lost');
  expect(changes.count).toBe(4);
  vi.advanceTimersByTime(60_000);
  expect(ended).toHaveLength(2);
});

test('whoever keeps a lock without a connection takes it again under their name', () => {
  const { takeOver, ended } = open();
  const { lock_id } = takeOver.take({ holder: 'kim', ttlMs: 60_000 });
  expect(takeOver.take({ holder: 'kim', ttlMs: 2_000 }).lock_id).toBe(lock_id);
  expect(takeOver.release(lock_id, 'kim', 'given_back')).toBe(true);
  expect(takeOver.release(lock_id, 'kim', 'given_back')).toBe(false);
  expect(ended).toHaveLength(1);
});
