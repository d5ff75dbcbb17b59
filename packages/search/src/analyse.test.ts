import { expect, test } from 'vitest';

import { analyse } from './analyse.ts';
import { keywordQuery } from './keyword-query.ts';

test('[KNOW-17] Vietnamese is kept with its marks, in pairs, and without its marks', () => {
  expect(analyse('Đường phố')).toEqual({
    words: ['đường', 'phố'],
    pairs: ['đường_phố'],
    bare: ['duong', 'pho', 'duong_pho'],
  });
});

test('[KNOW-17] letters that are composed differently are the same', () => {
  expect(analyse('phố'.normalize('NFD')).words).toEqual(analyse('phố'.normalize('NFC')).words);
});

test('[KNOW-17] scripts without spaces are taken apart into words', () => {
  expect(analyse('我们喜欢搜索引擎').words.length).toBeGreaterThan(2);
});

test('[KNOW-17] English has one form alone', () => {
  expect(analyse('Run `npm ci`, then test.')).toEqual({
    words: ['run', 'npm', 'ci', 'then', 'test'],
    pairs: [],
    bare: [],
  });
});

test('[KNOW-17] whatever is asked, nothing of it is read as an expression', () => {
  expect(keywordQuery('" OR NEAR(*) : ^ {}-')).toBe('{words bare} : ("or" OR "near" OR "or_near")');
  expect(keywordQuery('?!')).toBeUndefined();
});
