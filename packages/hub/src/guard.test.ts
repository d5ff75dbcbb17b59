import type { IncomingMessage } from 'node:http';

import { expect, test } from 'vitest';

import { ConfigSchema } from './config/schema.ts';
import { createGuard } from './guard.ts';

const http = { allowed_hosts: ['hub.example'], allowed_origins: ['https://desk.example'] };
const guard = (request: IncomingMessage): void =>
  createGuard(ConfigSchema.parse({ data: 'data', http }), 7777)(request);

const sent = (headers: Record<string, string>) =>
  ({ headers, rawHeaders: Object.entries(headers).flat() }) as IncomingMessage;

const HOST = '127.0.0.1:7777';

test.each([
  ...['127.0.0.1', 'localhost', '[::1]', 'hub.example'].map((name) => `http://${name}:7777`),
  'https://hub.example:7777',
  'https://desk.example',
])('%s may call', (origin) => {
  expect(() => guard(sent({ host: HOST, origin }))).not.toThrow();
});

test.each([
  // What another program of this machine shows is a foreign page.
  ...['127.0.0.1', 'localhost', '[::1]', 'hub.example'].flatMap((name) => [
    `http://${name}:7778`,
    `http://${name}`,
  ]),
  'https://desk.example:7777',
  'https://desk.example.evil.example',
  'null',
])('%s may not', (origin) => {
  expect(() => guard(sent({ host: HOST, origin }))).toThrow('this Origin may not call the hub');
});

test.each(['127.0.0.1:7778', 'localhost:80', 'evil.example', 'evil.example:7777'])(
  'the Host %s is not served',
  (host) => {
    expect(() => guard(sent({ host }))).toThrow('this Host is not served here');
  },
);

test.each([
  '127.0.0.1:7777',
  'LOCALHOST:7777',
  'localhost',
  'Hub.Example',
  'hub.example:7777',
  'proxy.example:8443',
  '[::1]',
  '[::1]:7777',
  'my-machine:7777',
])('the Host %s is served', (host) => {
  const named = { ...http, allowed_hosts: ['HUB.example', 'proxy.example:8443'] };
  const own = createGuard(ConfigSchema.parse({ data: 'data', host: 'My-Machine', http: named }), 7777);
  expect(() => own(sent({ host }))).not.toThrow();
});

test('no Host at all, and a named port with another beside it, is served nowhere', () => {
  const named = { ...http, allowed_hosts: ['proxy.example:8443'] };
  const own = createGuard(ConfigSchema.parse({ data: 'data', http: named }), 7777);
  const refused = expect.objectContaining({ status: 403, code: 'FORBIDDEN' });
  expect(() => own(sent({}))).toThrow(refused);
  for (const host of ['proxy.example', 'proxy.example:8443:7777', 'proxy.example:7777'])
    expect(() => own(sent({ host }))).toThrow(refused);
  expect(() => own(sent({ host: HOST, origin: 'http://evil.example' }))).toThrow(refused);
});

test.each([
  'Host',
  'origin',
  'Referer',
  'Authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'sec-fetch-site',
  'Sec-Fetch-Mode',
])('two of the header %s are refused, however they are written', (name) => {
  const rawHeaders = ['host', HOST, name, 'a', 'accept', 'b', name.toUpperCase(), 'a'];
  const twice = { headers: { host: HOST }, rawHeaders } as unknown as IncomingMessage;
  expect(() => guard(twice)).toThrow(
    expect.objectContaining({
      status: 400,
      message: `send the header ${name.toLowerCase()} once`,
      headers: { connection: 'close' },
    }),
  );
});

test('what may come twice may, also as the value of another', () => {
  const rawHeaders = [
    'host',
    HOST,
    'accept',
    'host',
    'accept',
    'origin',
    'x-origin',
    'origin',
    'origin',
    HOST,
  ];
  expect(() => guard({ headers: { host: HOST }, rawHeaders } as unknown as IncomingMessage)).not.toThrow();
});

test('what has names of its own is served under them alone, over TLS, and to its own pages', () => {
  const lan = createGuard(ConfigSchema.parse({ data: 'data', http }), 7777, ['hub.lan', '192.0.2.7']);
  const call = (host: string, origin?: string) => () =>
    lan(sent({ host, ...(origin === undefined ? {} : { origin }) }));
  for (const name of ['hub.lan', '192.0.2.7']) {
    expect(call(`${name}:7777`)).not.toThrow();
    expect(call(`${name}:7777`, `https://${name}:7777`)).not.toThrow();
    expect(call(`${name}:7777`, `http://${name}:7777`)).toThrow('this Origin');
    expect(call(`${name}:7777`, 'https://desk.example')).toThrow('this Origin');
  }
  for (const host of [HOST, 'localhost:7777', 'hub.example:7777']) expect(call(host)).toThrow('this Host');
});
