import { once } from 'node:events';
import { type AddressInfo, createServer, isIP } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

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
  const refusal = await outgoing.post(url, {}, '').then(
    () => undefined,
    (error: unknown) => whyNot(error),
  );
  expect(refusal).toMatchObject({ final: true });
  expect(refusal?.why).toContain(why);
  expect(refusal?.why).not.toContain(new URL(url).hostname);
  expect(await outgoing.refusal(url)).toContain(why);
});

test.each([
  ['http://allowed.example/', undefined],
  ['https://8.8.8.8/', undefined],
  // Whoever is away now may be there tomorrow.
  ['https://nobody.invalid/', undefined],
])('%s is not refused', async (url, why) => {
  const outgoing = createOutgoing({ allowedHosts: ['allowed.example'], timeoutMs: 20_000 });
  expect(await outgoing.refusal(url)).toBe(why);
});

/** A listener on loopback, an address that leads to it by a name, and a way out that knows what the name means. */
async function byName(answers: readonly (readonly string[])[]) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const asked: string[] = [];
  const outgoing = createOutgoing({
    allowedHosts: [],
    timeoutMs: 20_000,
    resolve(name, _options, done) {
      const addresses = answers[asked.push(name) - 1] ?? answers.at(-1) ?? [];
      done(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );
    },
  });
  const url = `https://inside.example:${(server.address() as AddressInfo).port}/`;
  const sent = async () =>
    outgoing.post(url, {}, 'secret').then(
      () => 'sent',
      (error: unknown) => whyNot(error),
    );
  return { outgoing, url, sent, asked, connections: () => connections };
}

const REFUSED = { final: true, why: expect.stringContaining('a private address') as string };

test.each([
  ['private', ['127.0.0.1']],
  ['private, of the other family', ['::1']],
  ['mapped', ['::ffff:127.0.0.1']],
  ['of the cloud', ['169.254.169.254']],
  ['mixed, the public one first', ['8.8.8.8', '127.0.0.1']],
  ['mixed, the private one first', ['127.0.0.1', '8.8.8.8']],
  ['none', []],
])(
  '[C-LOCAL-09] a name whose address is %s is refused, and nobody is connected to',
  async (_kind, addresses) => {
    const { outgoing, url, sent, asked, connections } = await byName([addresses]);
    expect(await sent()).toEqual(REFUSED);
    expect(await outgoing.refusal(url)).toContain('a private address');
    expect(asked).toEqual(['inside.example', 'inside.example']);
    expect(connections()).toBe(0);
  },
);

test('[C-LOCAL-09] a name that was public when it was registered and is private when it is sent to is refused', async () => {
  const { outgoing, url, sent, connections } = await byName([['8.8.8.8'], ['127.0.0.1']]);
  expect(await outgoing.refusal(url)).toBeUndefined();
  expect(await sent()).toEqual(REFUSED);
  expect(connections()).toBe(0);
});
