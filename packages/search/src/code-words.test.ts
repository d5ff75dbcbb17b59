import { expect, test } from 'vitest';

import { codeWords, spellOut } from './code-words.ts';

test.each([
  ['parseConfigFile', ['parse', 'config', 'file']],
  ['HTTPServer', ['http', 'server']],
  ['get_user_name', ['getusername']],
  ['ERR_MODULE_NOT_FOUND', ['errmodulenotfound']],
  ['TS2345', ['2345']],
  ['src/hub/server.test.ts', ['src_hub_server_test_ts', 'server_test_ts']],
  ['v1.16.3', ['1_16', '1_16_3']],
  ['KNOW-17', ['know_17']],
  ['std::vec', ['std_vec']],
])('[KNOW-17] %s is found by its parts and as a whole', (text, words) => {
  expect(codeWords(`Then ${text} is called.`)).toEqual(words);
});

test('[KNOW-17] prose has no names of code', () => {
  expect(codeWords('State-of-the-art mRNA of McDonald, well-known. End')).toEqual([]);
  expect(spellOut('parseConfigFile reads mRNA')).toBe('parse Config File reads mRNA');
  expect(spellOut('JavaScript', (word) => word === 'javascript')).toBe('JavaScript');
});

test('[KNOW-17] a long run of letters costs no more than its length', () => {
  const long = 'aB'.repeat(500_000);
  expect(codeWords(long)).toEqual([]);
  expect(codeWords('a.'.repeat(500_000))).toEqual([]);
});
