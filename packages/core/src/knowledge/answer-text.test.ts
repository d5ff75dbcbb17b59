import { expect, test } from 'vitest';

import { saidBy, saysNothing, shown } from './answer-text.ts';

const shownBy = (written: string, count = 3): string => saidBy(written, count).map(shown).join('');

test('[KNOW-17] a sentence that cites nothing is marked, wherever its neighbours have their marks', () => {
  expect(shownBy('It is 8620 [1]. I like ports. It is open [2].')).toBe(
    'It is 8620 [1]. I like ports. [no source] It is open [2].',
  );
  // A mark behind the full stop belongs to what it stands behind.
  expect(shownBy('It is 8620. [1] I like ports. It is open.[2]')).toBe(
    'It is 8620. [1] I like ports. [no source] It is open. [2]',
  );
  expect(shownBy('Đường phố rất đông. [1] Tôi nghĩ vậy.')).toBe(
    'Đường phố rất đông. [1] Tôi nghĩ vậy. [no source]',
  );
});

test('[KNOW-17] what claims nothing needs no source', () => {
  const list = '## Ports\n\nThese are open:\n- The first is 8620 [1]\n- The second\n';
  expect(shownBy(list)).toBe(
    '## Ports\n\nThese are open:\n- The first is 8620 [1]\n- The second [no source]',
  );
  expect(shownBy('Dr. Smith opened it [1].')).toBe('Dr. Smith opened it [1].');
});

test('[KNOW-17] citations of what was not given go, lists of them are taken apart', () => {
  expect(saidBy('It is 8620 [1, 2], as others say [7].', 2)).toEqual([
    { text: 'It is 8620 [1] [2], as others say.', cites: [1, 2] },
  ]);
  expect(shownBy('Only hearsay [9].', 2)).toBe('Only hearsay. [no source]');
});

test.each([
  ['not in the documents', true],
  ['**Not in the documents.**', true],
  ['“Not in the passages” [1]', true],
  ['It is not in the documents but in the log [1].', false],
  ['', false],
])('[KNOW-17] %j says that there is no answer: %s', (written, says) => {
  expect(saysNothing(written)).toBe(says);
});
