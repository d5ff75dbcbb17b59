import { randomBytes } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { createStateSeal } from './state-seal.ts';

const key = randomBytes(32);

function sealAt(clock: { now: number }, ttlMs = 1_000) {
  return createStateSeal({ key, ttlMs, now: () => clock.now });
}

describe('[C-MCP-07] sealed request state', () => {
  test('opens once, for its own binding', () => {
    const seal = sealAt({ now: 0 });
    const text = seal.seal({ step: 1 }, 'alice post');
    expect(seal.open(text, 'alice post')).toEqual({ step: 1 });
    expect(() => seal.open(text, 'alice post')).toThrow(/requestState/);
  });

  test('is refused when any one byte differs, and then still opens unaltered', () => {
    const seal = sealAt({ now: 0 });
    const text = seal.seal('asked', 'alice');
    for (let i = 0; i < text.length; i++) {
      for (const other of ['A', 'B', '_', '.']) {
        if (text[i] === other) continue;
        expect(() => seal.open(text.slice(0, i) + other + text.slice(i + 1), 'alice')).toThrow(
          /requestState/,
        );
      }
    }
    for (const other of ['', '.', `${text}-TAMPERED`, `${text}=`, `${text}.x`, text.slice(0, -1)])
      expect(() => seal.open(other, 'alice')).toThrow(/requestState/);
    expect(seal.open(text, 'alice')).toBe('asked');
  });

  test('is refused for another caller or another request', () => {
    const seal = sealAt({ now: 0 });
    const text = seal.seal('asked', 'alice');
    for (const binding of ['bob', 'alice ', '', 'alicea']) expect(() => seal.open(text, binding)).toThrow();
  });

  test('is refused after its time, and by another key', () => {
    const clock = { now: 0 };
    const seal = sealAt(clock);
    const early = seal.seal('asked', 'alice');
    const late = seal.seal('asked', 'alice');
    clock.now = 999;
    expect(seal.open(early, 'alice')).toBe('asked');
    clock.now = 1_000;
    expect(() => seal.open(late, 'alice')).toThrow();
    const other = createStateSeal({ key: randomBytes(32), ttlMs: 1_000, now: () => 0 });
    expect(() => other.open(late, 'alice')).toThrow();
  });

  test('forgets spent states only after they have expired', () => {
    const clock = { now: 0 };
    const seal = sealAt(clock);
    const spent = Array.from({ length: 50 }, () => seal.seal('asked', 'alice'));
    for (const text of spent) seal.open(text, 'alice');
    clock.now = 999;
    for (const text of spent) expect(() => seal.open(text, 'alice')).toThrow();
    clock.now = 5_000;
    for (const text of spent) expect(() => seal.open(text, 'alice')).toThrow();
  });
});
