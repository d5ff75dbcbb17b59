import { expect, test } from 'vitest';

import { BEGINNING_BYTES, checkBeginning, checkName, checkType } from './policy.ts';

test('a type is taken that is listed; who sends another is told which are', () => {
  const types = ['text/plain', 'image/png'];
  expect(() => checkType('image/png', types)).not.toThrow();
  const long = `text/${'x'.repeat(100)}`;
  expect(() => checkType(long, types)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message: `mime_type: ${long.slice(0, 64)} is not taken`,
      details: { field: 'mime_type', supported: types },
    }),
  );
});

test.each([
  'a.txt',
  'html',
  'my.html.txt',
  '.env',
  '..a',
  'a..',
  'a b.md',
  'a%',
  'a%2',
  '100%zz.txt',
  'ｆｕｌｌ.txt',
])('%j is the name of a file', (name) => {
  expect(() => checkName(name)).not.toThrow();
});

test.each([
  '/etc/passwd',
  'a\\b',
  'a\tb',
  '.',
  '..',
  ' . ',
  ' ..  ',
  '%2e%2e',
  'a%2Fb',
  'a%252fb',
  'a%5cb',
  'a\u2044b',
  'a\u2215b',
  'a\u29f8b',
  'a\u2216b',
  'a\u29f5b',
  'a／b',
])('%j is a path', (name) => {
  expect(() => checkName(name)).toThrow('without a path');
});

test.each(['a.html', 'a.HTM', 'a.svg ', 'a.exe..', 'a.bat . ', 'a%2Ehtml', 'a.ｈｔｍｌ', '.hta'])(
  '%j is a page or a program',
  (name) => {
    expect(() => checkName(name)).toThrow('pages and programs');
  },
);

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

test.each([
  ['image/png', '\x89PNG\r\n\x1a\n and more', true],
  ['image/png', '\x89PNG\r\n\x1a', false],
  ['image/gif', 'GIF87a', true],
  ['image/gif', 'GIF89a', true],
  ['image/gif', 'GIF88a', false],
  ['image/webp', 'RIFF1234WEBP', true],
  ['image/webp', 'RIFF1234WAVE', false],
  ['text/plain', 'words', true],
  ['text/plain', 'wo\0rds', false],
  ['text/csv', 'a\0b', false],
  ['application/json', '{"a":"\0"}', false],
  ['application/octet-stream', 'a\0b', true],
  ['application/text/', 'a\0b', true],
  ['text/plain', `${' '.repeat(BEGINNING_BYTES)}\0`, true],
])('%s that begins with %j fits: %s', (type, text, isFit) => {
  const check = (): void => checkBeginning(type, bytes(text));
  if (isFit) expect(check).not.toThrow();
  else expect(check).toThrow(`the bytes are no ${type}`);
});
