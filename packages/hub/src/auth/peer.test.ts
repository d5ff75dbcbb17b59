import type { IncomingMessage } from 'node:http';

import { expect, test } from 'vitest';

import { networkOf, peerOf } from './peer.ts';

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['2001:db8::4:5:6:7:8', '2001:db8:0:4::/64'],
  // Only the whole of an address is an IPv4 one, written as a person writes it.
  ['2001:db8::ffff:192.0.2.7', '2001:db8:0:0::/64'],
  ['::ffff:1234:5678', '0:0:0:0::/64'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('%s is counted as %s', (address, name) => {
  expect(networkOf(address)).toBe(name);
});

test('a peer is known by the address of its socket, and one that has gone by none', () => {
  const peer = (socket: object) => peerOf({ socket } as IncomingMessage);
  expect(peer({ remoteAddress: '::ffff:192.0.2.7' })).toBe('192.0.2.7');
  expect(peer({})).toBe('');
});
