import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  ENTRY_SALT_BOUND,
  entryUlid,
  messageId,
  seqOfMessageId,
  tagFromDigest,
  tagOfThreadId,
  threadId,
  ulid,
} from './ids.ts';

const time = fc.integer({ min: 0, max: 253_402_300_799_999 });
const seq = fc.oneof(fc.nat(), fc.maxSafeNat());
const salt = fc.integer({ min: 0, max: ENTRY_SALT_BOUND - 1 });
const bytes = fc.uint8Array({ minLength: 16, maxLength: 32 });

test('a message id leads back to its seq', () => {
  fc.assert(
    fc.property(time, seq, salt, (at, wanted, random) => {
      const id = messageId(entryUlid(at, wanted, random));
      expect(id).toMatch(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
      expect(seqOfMessageId(id)).toBe(wanted);
    }),
  );
});

test('ids of one thread sort like its log', () => {
  const step = fc.tuple(fc.nat({ max: 1_000 }), salt);
  fc.assert(
    fc.property(time, fc.array(step, { minLength: 2, maxLength: 40 }), (start, steps) => {
      let at = Math.min(start, 253_402_300_000_000);
      const ids = steps.map(([later, random], i) => messageId(entryUlid((at += later), i + 1, random)));
      expect(ids.toSorted()).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('two entries never share an id, whatever the clock and the dice say', () => {
  fc.assert(
    fc.property(time, seq, salt, time, seq, salt, (at, a, random, otherAt, b, otherRandom) => {
      fc.pre(a !== b);
      expect(entryUlid(at, a, random)).not.toBe(entryUlid(otherAt, b, otherRandom));
    }),
  );
});

test('what is not one of our message ids has no seq', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(seqOfMessageId(text)).toBeUndefined();
      expect(seqOfMessageId(`msg_${text}`)).toBeUndefined();
    }),
  );
  const id = messageId(entryUlid(1_700_000_000_000, 1, ENTRY_SALT_BOUND - 1));
  for (const near of [
    id.toLowerCase(),
    ` ${id}`,
    `${id}0`,
    id.slice(0, -1),
    id.replace('0', 'O'),
    `${id}\n`,
    messageId('7'.repeat(26)).replaceAll('7', 'Z'),
  ])
    expect(seqOfMessageId(near)).toBeUndefined();
});

test('a thread id leads back to its workspace’s tag', () => {
  fc.assert(
    fc.property(time, bytes, bytes, (at, random, digest) => {
      const tag = tagFromDigest(digest);
      expect(tag).toMatch(/^[0-9a-hjkmnp-tv-z]{4}$/);
      expect(tagOfThreadId(threadId(ulid(at, random), tag))).toBe(tag);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => tagOfThreadId(`th_${text}`) === undefined));
});
