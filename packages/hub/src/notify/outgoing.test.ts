import { expect, test } from 'vitest';

import { createOutgoing, isPublicAddress, whyNot } from './outgoing.ts';

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.168.1.1',
  '192.88.99.1',
  '0.0.0.0',
  '255.255.255.255',
  '224.0.0.1',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fec0::1',
  'fe80::1',
  'fc00::1',
  'ff02::1',
  'not an address',
])('[C-LOCAL-09] %s is no public address', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '2a00:1450:4001:800::200e'])('%s is one', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  ['http://example.com/', 'only https'],
  ['https://user:word@example.com/', 'an address with a name in it'],
  ['https://127.0.0.1/', 'a private address'],
  ['https://2130706433/', 'a private address'],
  ['https://0177.0.0.1/', 'a private address'],
  ['https://[::ffff:127.0.0.1]/', 'a private address'],
  ['https://localhost/', 'a private address'],
  ['https://localhost./', 'a private address'],
])('[C-LOCAL-09] %s is refused before anything is sent', async (url, why) => {
  const outgoing = createOutgoing({ allowedHosts: ['allowed.example'], timeoutMs: 20_000 });
  const refusal = await outgoing(url, {}, '').then(
    () => undefined,
    (error: unknown) => whyNot(error),
  );
  expect(refusal).toMatchObject({ final: true });
  expect(refusal?.why).toContain(why);
  expect(refusal?.why).not.toContain(new URL(url).hostname);
});
