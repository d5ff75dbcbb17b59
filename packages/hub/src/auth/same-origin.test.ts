import type { IncomingMessage } from 'node:http';

import { expect, test } from 'vitest';

import { isOpened, isSameOrigin } from './same-origin.ts';

const HOST = '127.0.0.1:7777';

const sent = (headers: Record<string, string>) =>
  ({ headers: { host: HOST, ...headers } }) as IncomingMessage;

test.each<[headers: Record<string, string>, same: boolean]>([
  [{ origin: `http://${HOST}` }, true],
  [{ origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'same-origin' }, true],
  // Another port of this machine is another page, though a cookie goes there too.
  [{ origin: 'http://127.0.0.1:7778' }, false],
  [{ origin: 'http://127.0.0.1' }, false],
  [{ origin: 'http://localhost:7777' }, false],
  [{ origin: 'http://127.0.0.1:7778', 'sec-fetch-site': 'same-origin' }, false],
  [{ origin: `http://${HOST}`, 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': 'none' }, false],
  [{ origin: 'null' }, false],
  [{}, false],
  // An old engine that only reads says no more than which page it is on.
  [{ referer: `http://${HOST}/threads` }, true],
  [{ referer: `http://${HOST}/`, 'sec-fetch-site': 'same-site' }, false],
  [{ referer: `http://${HOST}/`, origin: 'http://127.0.0.1:7778' }, false],
  [{ referer: 'http://127.0.0.1:7778/' }, false],
  [{ referer: `http://127.0.0.1:7778/?http://${HOST}/` }, false],
  [{ referer: `http://${HOST}@evil.example/` }, false],
  [{ referer: `http://${HOST}.evil.example/` }, false],
  [{ referer: HOST }, false],
  [{ referer: '' }, false],
])('%j comes from the hub’s own page: %s', (headers, same) => {
  expect(isSameOrigin(sent(headers))).toBe(same);
});

test('a host is the same however it is written, and nothing comes from where none is named', () => {
  expect(isSameOrigin(sent({ host: 'LocalHost:7777', origin: 'http://localhost:7777' }))).toBe(true);
  expect(isSameOrigin({ headers: { origin: `http://${HOST}` } } as IncomingMessage)).toBe(false);
});

test('a person opens a page from the address bar; a script that says so did not', () => {
  expect(isOpened(sent({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }))).toBe(true);
  expect(isOpened(sent({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'cors' }))).toBe(false);
  expect(isOpened(sent({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }))).toBe(false);
  expect(isOpened(sent({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }))).toBe(true);
  expect(isOpened(sent({ referer: `http://${HOST}/` }))).toBe(true);
  expect(isOpened(sent({}))).toBe(false);
});
