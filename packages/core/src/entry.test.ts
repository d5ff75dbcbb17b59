import { hash } from 'node:crypto';

import { expect, test } from 'vitest';

import { CHAIN_START, type Entry, link, readEntry, seal, toMessage } from './entry.ts';

const entry = { message_id: 'm', seq: 1, type: 'message', body: 'text', not_called: [] } as unknown as Entry;

test('[R11] an entry is chained to all that came before it by the hash of both', () => {
  const first = seal(CHAIN_START, entry);
  expect(first.json).toBe(JSON.stringify(entry));
  expect(first.hash).toBe(hash('sha256', `\n${first.json}`, 'base64url'));
  const second = seal(first.hash, entry);
  expect(second).toEqual({ json: first.json, hash: link(first.hash, first.json) });
  expect(second.hash).not.toBe(first.hash);
  expect(readEntry(first.json)).toEqual(entry);
});

test('callers see of an entry neither its type nor who was passed over', () => {
  expect(toMessage(entry)).toEqual({ message_id: 'm', seq: 1, body: 'text' });
});
