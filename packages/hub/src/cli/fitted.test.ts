import { expect, test } from 'vitest';

import { fitTable } from './fitted.ts';

const rows = [
  [
    'A1B2C3',
    'a-very-long-name-of-an-agent-indeed',
    'approval',
    'high',
    '3 min left',
    '2 min ago',
    'rm -rf build',
  ],
  ['D4E5F6', 'bob', 'question', 'low', '9 min left', '1 min ago', `deploy ${'very '.repeat(30)}far`],
];
const columns = [{}, { most: 18 }, { spare: true }, {}, {}, { spare: true }, {}] as const;

test('a table fits its terminal; the last column keeps room for itself, and what is spare goes first', () => {
  for (const width of [40, 60, 80, 120, 200]) {
    const lines = fitTable(rows, columns, width);
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    expect(lines[0]).toContain('high');
    expect(lines[0]).toContain('rm -rf');
  }
  const [narrow = ''] = fitTable(rows, columns, 80);
  expect(narrow).toBe('A1B2C3  a-very-long-name-…  high  3 min left  rm -rf build');
  expect(fitTable(rows, columns, 200)[0]).toContain('approval  high  3 min left  2 min ago  rm -rf build');
});

test('what takes two columns counts as two, and what takes none as none', () => {
  expect(
    fitTable(
      [
        ['設計', 'x'],
        ['ab', 'e\u0301', ''],
      ],
      [],
      20,
    ),
  ).toEqual(['設計  x', 'ab    e\u0301']);
  expect(fitTable([['', '設計設計設計']], [], 10)).toEqual(['  設計設…']);
  expect(fitTable([['', '🚀🚀🚀🚀🚀']], [], 10)).toEqual(['  🚀🚀🚀…']);
});

test('colours take no room, and none of them runs on', () => {
  const red = '\u001b[31mhigh\u001b[39m';
  const [line = ''] = fitTable([[red, 'x'.repeat(50)]], [], 20);
  expect(line).toBe(`${red}  ${'x'.repeat(13)}…`);
});
