import { expect, test } from 'vitest';

import { piecesOf } from './line-marks.ts';

test('runs become pieces with their colours and flags, and what they do not speak of is plain', () => {
  expect(piecesOf('plain red on blue rest', '6 3;f1;o 4;b4;u 5;v')).toEqual([
    { text: 'plain ', class: '' },
    { text: 'red', class: 't-bold t-f-1' },
    { text: ' on ', class: 't-under t-b-4' },
    { text: 'blue ', class: 't-f-ground t-b-ink' },
    { text: 'rest', class: '' },
  ]);
});

test('colours beyond the sixteen are mixed: the cube, the greys, and any', () => {
  const colour = (marks: string) => piecesOf('x', `1;${marks}`)[0];
  expect(colour('f196')).toMatchObject({ color: 'rgb(255 0 0)' });
  expect(colour('b244')).toMatchObject({ background: 'rgb(128 128 128)' });
  expect(colour('F0ac81e')).toMatchObject({ color: '#0ac81e' });
  expect(colour('v;F0ac81e')).toMatchObject({ background: '#0ac81e', class: 't-f-ground' });
});

test('a wide character has two cells, and what a font may lack has one of its own', () => {
  expect(piecesOf('a漢─✻b', '1 1;w 3')).toEqual([
    { text: 'a', class: '' },
    { text: '漢', class: '', cells: 2 },
    { text: '─', class: '' },
    { text: '✻', class: '', cells: 1 },
    { text: 'b', class: '' },
  ]);
});

test('what hides, steers or turns text around is not drawn, and nonsense in the runs does nothing', () => {
  expect(piecesOf('a\u202eb\u0007c\u200bd', '')).toEqual([{ text: 'abcd', class: '' }]);
  expect(piecesOf('abc', 'x;f<script> -4;F"onclick" 2;b999')).toEqual([
    { text: 'ab', class: '' },
    { text: 'c', class: '' },
  ]);
});
