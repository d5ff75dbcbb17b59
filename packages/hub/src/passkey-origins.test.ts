import { expect, test } from 'vitest';

import { passkeyOrigins } from './passkey-origins.ts';

const none = { allowed_hosts: [], allowed_origins: [] };

test('on loopback the name is localhost, on the network the one of --lan', () => {
  expect(passkeyOrigins(none, 'http://127.0.0.1:8620', undefined)).toEqual(['http://localhost:8620']);
  expect(passkeyOrigins(none, 'http://[::1]:8620', 'https://desk.local:8643')).toEqual([
    'http://localhost:8620',
    'https://desk.local:8643',
  ]);
});

test('a name in front of the hub counts where the hub answers to it; a foreign page never does', () => {
  const http = {
    allowed_hosts: ['Desk.Example', 'other.example:8443', '10.0.0.5'],
    allowed_origins: [
      'https://desk.example',
      'https://other.example:8443',
      'https://app.example',
      'https://10.0.0.5',
    ],
  };
  expect(passkeyOrigins(http, 'http://127.0.0.1:8620', undefined)).toEqual([
    'https://desk.example',
    'https://other.example:8443',
    'http://localhost:8620',
  ]);
});

test('an address of numbers has no passkeys', () => {
  expect(passkeyOrigins(none, 'https://192.168.1.7:8620', undefined)).toEqual([]);
  expect(passkeyOrigins(none, 'https://[fe80::1]:8620', undefined)).toEqual([]);
  expect(passkeyOrigins(none, '', undefined)).toEqual([]);
});
