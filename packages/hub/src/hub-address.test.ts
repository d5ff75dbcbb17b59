import { expect, test } from 'vitest';

import { createHubAddress } from './hub-address.ts';

const addressOf = (base_url: string, allowed_origins: string[]) => {
  const address = createHubAddress({
    http: { base_url, allowed_origins, allowed_hosts: [], deprecated: [] },
  } as never);
  address.found('http://127.0.0.2:8620');
  return address;
};

test('the hub is where the configuration says, else at its first https origin, else where it listens', () => {
  const origins = ['http://localhost:5173', 'https://desk.example'];
  expect(addressOf('http://balancer:80', origins).get()).toBe('http://balancer:80');
  expect(addressOf('', origins).get()).toBe('https://desk.example');
  expect(addressOf('', ['http://localhost:5173']).get()).toBe('http://127.0.0.2:8620');
});

test('whatever stands before it, the process itself is where it listens', () => {
  expect(addressOf('https://desk.example', []).ofProcess()).toBe('http://127.0.0.2:8620');
});
