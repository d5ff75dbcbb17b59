import { expect, test } from 'vitest';

import { analyse } from './analyse.ts';
import { askedTerms } from './keyword-query.ts';

const words = (text: string): string[] => analyse(text).words;

test.each([
  ['Arabic with and without its article', 'الكتاب', 'كتاب'],
  ['Arabic with one alef or another', 'أحمد', 'احمد'],
  ['Arabic with its vowels', 'كِتَابٌ', 'كتاب'],
  ['Arabic that is stretched', 'كتــاب', 'كتاب'],
  ['Hindi in the plural', 'लड़कियों', 'लड़की'],
  ['Hindi with a joiner inside', 'क्\u200dया', 'क्या'],
  ['Hindi nasals', 'पाँच', 'पांच'],
  ['Russian in another case', 'городами', 'город'],
  ['Russian with its dots', 'чёрный', 'черный'],
  ['digits of other scripts', '१९४७ ١٩٤٧', '1947 1947'],
])('[KNOW-17] %s is the same word', (_, one, other) => {
  expect(words(one)).toEqual(words(other));
});

test('[KNOW-17] short words and other scripts stay as they are', () => {
  expect(words('он')).toEqual(['он']);
  expect(words('Straßen configs')).toEqual(['straßen', 'configs']);
  expect(words('Москва')).not.toEqual(words('мост'));
});

test('[KNOW-17] the small words of a question are not looked for, in any of its languages', () => {
  expect(askedTerms('Wer ist der Vater von Goethe')?.terms.filter((one) => !one.includes('_'))).toEqual([
    'vater',
    'goethe',
  ]);
  expect(askedTerms('кто был в Москве')?.terms).not.toContain('был');
  expect(askedTerms('who did die in Los Angeles')?.terms).toContain('los');
});

test('[KNOW-17] pairs are those of the question as it stands', () => {
  expect(askedTerms('thu do cua Viet Nam')?.terms).toContain('do_cua');
});
