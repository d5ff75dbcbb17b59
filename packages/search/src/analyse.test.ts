import { expect, test } from 'vitest';

import { analyse } from './analyse.ts';
import { askedTerms, keywordQuery, rarest } from './keyword-query.ts';

test('[KNOW-17] Vietnamese is kept with its marks, in pairs, and without its marks', () => {
  expect(analyse('Đường phố')).toEqual({
    words: ['đường', 'phố'],
    pairs: ['đường_phố'],
    bare: ['duong', 'pho', 'duong_pho'],
  });
});

test('[KNOW-17] marks of other languages make no text longer than the words that have them', () => {
  const german = 'Für Müller wäre das schöne Köln übrigens auch früher größer';
  expect(analyse(german)).toMatchObject({
    pairs: [],
    bare: ['fur', 'muller', 'ware', 'schone', 'koln', 'ubrigens', 'fruher', 'großer'],
  });
  for (const text of ['La población creció más rápido aquí', 'Țara și orașul său', 'Çok güzel bir şehir'])
    expect(analyse(text)).toMatchObject({ pairs: [] });
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

test('[KNOW-17] of a question the rarest words are kept that together cost no more than is allowed', () => {
  const counts: Record<string, number> = { cell: 900, protein: 300, actin: 20, zyxin: 3, cell_protein: 0 };
  const countOf = (expression: string): number => counts[/"(.+)"/.exec(expression)?.[1] ?? ''] ?? 0;
  const asked = askedTerms('cell protein actin zyxin') ?? { columns: [], terms: [] };
  expect(rarest(asked, 400, countOf)).toEqual({
    columns: ['words', 'bare'],
    terms: ['zyxin', 'actin', 'protein'],
  });
  expect(rarest(asked, 10_000, countOf).terms).toHaveLength(4);
  expect(rarest({ ...asked, terms: ['cell'] }, 400, countOf).terms).toEqual(['cell']);
  expect(rarest({ ...asked, terms: ['xyzzy'] }, 400, countOf).terms).toEqual([]);
});
