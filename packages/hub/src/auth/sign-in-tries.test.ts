import type { IncomingMessage } from 'node:http';

import { expect, test } from 'vitest';

import { createSignInTries } from './sign-in-tries.ts';

const from = (remoteAddress: string) => ({ headers: {}, socket: { remoteAddress } }) as IncomingMessage;

function triesOf(sign_ins_per_minute: number, codes_per_minute: number) {
  let time = 0;
  const clock = { now: () => 0, monotonic: () => time, trusted: () => 0 };
  const tries = createSignInTries({ sign_ins_per_minute, codes_per_minute }, clock);
  return { tries, pass: (ms: number) => (time += ms) };
}

test('codes are counted over all addresses together, and the key of a link is not', () => {
  const { tries, pass } = triesOf(1_000, 3);
  for (let i = 0; i < 3; i++) tries.countWord(`XXXX-XXX${i}`);
  expect(() => tries.countWord('XXXX-XXXX')).toThrow('too many codes were tried');
  // Spaces make no code of another kind.
  expect(() => tries.countWord(`${' '.repeat(30)}XXXX-XXXX`)).toThrow('too many codes were tried');
  expect(() => tries.countWord('k'.repeat(39))).toThrow('too many codes were tried');
  for (let i = 0; i < 100; i++) tries.countWord('k'.repeat(40));
  pass(20_000);
  tries.countWord('XXXX-XXXX');
  expect(() => tries.countWord('XXXX-XXXX')).toThrow('too many codes were tried');
});

test('each address has its own number of tries', () => {
  const { tries, pass } = triesOf(2, 1_000);
  const one = from('192.0.2.1');
  const other = from('192.0.2.2');
  tries.count(one);
  tries.count(one);
  expect(() => tries.count(one)).toThrow('too many tries');
  tries.count(other);
  pass(30_000);
  tries.count(one);
  expect(() => tries.count(one)).toThrow('too many tries');
});
