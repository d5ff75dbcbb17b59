import { expect, test } from 'vitest';

import { fingerprint } from './fingerprint.ts';
import { replay } from './idempotency.ts';

const wanted = { scope: 's', key: 'k', fresh_after: 1_000 };
const known = { fingerprint: 'f', result: { seq: 1 }, at: 1_001 };

test('[R3] a key binds within its window, and not at its very end', () => {
  expect(replay(undefined, wanted, 'f')).toBeUndefined();
  expect(replay(known, wanted, 'f')).toBe(known.result);
  expect(replay({ ...known, at: 1_000 }, wanted, 'f')).toBeUndefined();
  expect(replay({ ...known, at: 1_000 }, wanted, 'other')).toBeUndefined();
});

test('[R3] another payload under the same key is a conflict that names the key', () => {
  let told: unknown;
  try {
    replay(known, wanted, 'other');
  } catch (error) {
    told = error;
  }
  expect(told).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', details: { field: 'idempotency_key' } });
});

test('a fingerprint is of the payload, and of what it is about where that is said', () => {
  const input = { a: 1, b: [1] };
  const about = (what: string) => ({ ...wanted, about: what });
  const plain = fingerprint({ input });
  // It stands in every record: its form must not change.
  expect(plain).toHaveLength(22);
  expect(fingerprint({ input: { b: [1], a: 1 }, idempotency: wanted })).toBe(plain);
  expect(fingerprint({ input: { a: 2, b: [1] } })).not.toBe(plain);
  const ofThread = fingerprint({ input, idempotency: about('t1') });
  expect(ofThread).not.toBe(plain);
  expect(fingerprint({ input, idempotency: about('t2') })).not.toBe(ofThread);
});
