import type { IncomingMessage } from 'node:http';

import { expect, test } from 'vitest';

import { readDeviceCookie, writeDeviceCookie } from './device-cookie.ts';

const request = (headers: object, socket: object = { localPort: 8620 }) =>
  ({ headers, socket }) as unknown as IncomingMessage;
const REST = 'HttpOnly; SameSite=Strict; Path=/; Max-Age';

test('a device is known by the cookie of its port, the secure one first', () => {
  const read = (cookie: string | undefined, port: number | undefined = 8620) =>
    readDeviceCookie(request(cookie === undefined ? {} : { cookie }, { localPort: port }));
  expect(read(undefined)).toBeUndefined();
  expect(read('parley-8620=a=b')).toBe('a=b');
  expect(read('other=x; parley-8620=a')).toBe('a');
  expect(read('parley-8620=a; __Host-parley-8620=b')).toBe('b');
  expect(read('parley-8621=a; parley-86200=b; xparley-8620=c')).toBeUndefined();
  expect(readDeviceCookie(request({ cookie: 'parley-0=a' }, {}))).toBe('a');
});

test('a cookie is kept for thirty days, out of reach of scripts and other sites', () => {
  expect(writeDeviceCookie(request({}), 'v')).toBe(`parley-8620=v; ${REST}=2592000`);
  expect(writeDeviceCookie(request({}), '')).toBe(`parley-8620=; ${REST}=0`);
  expect(writeDeviceCookie(request({}), 'v', true)).toBe(`__Host-parley-8620=v; Secure; ${REST}=2592000`);
});

test('it is a secure one where the page came over TLS, by the hub or by who stands before it', () => {
  const isSecure = (headers: object, socket?: object) =>
    writeDeviceCookie(request(headers, socket), 'v').startsWith('__Host-');
  expect(isSecure({}, { localPort: 1, encrypted: true })).toBe(true);
  expect(isSecure({}, { localPort: 1, encrypted: false })).toBe(false);
  expect(isSecure({ origin: 'https://hub.example' })).toBe(true);
  expect(isSecure({ origin: 'http://hub.example' })).toBe(false);
});
