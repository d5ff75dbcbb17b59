import { expect, test } from 'vitest';

import {
  type Mutant,
  outdated,
  scoresByFile,
  scoreTable,
  type Survivor,
  unexplained,
  withScores,
} from './mutation-score.ts';

function mutant(file: string, status: string, original = 'a < b'): Mutant {
  return { file, line: 1, mutator: 'EqualityOperator', original, replacement: 'a <= b', status };
}

const reason: Survivor = {
  file: 'a.ts',
  mutator: 'EqualityOperator',
  original: 'a < b',
  replacement: 'a <= b',
  reason: 'both are the same where they meet',
};

test('a mutant is caught by a failing test or an endless one, and lives where no test sees it', () => {
  const mutants = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored'].map((status) =>
    mutant('a.ts', status),
  );
  expect(scoresByFile(mutants, [])).toEqual([
    { file: 'a.ts', caught: 2, survived: 1, uncovered: 1, explained: 0, score: 50 },
  ]);
});

test('the weakest file stands first, and the sum last', () => {
  const scores = scoresByFile([mutant('a.ts', 'Killed'), mutant('b.ts', 'Survived')], []);
  expect(scores.map(({ file }) => file)).toEqual(['b.ts', 'a.ts']);
  expect(scoreTable(scores).split('\n').at(-1)).toMatch(/^all +50\.0 % +1 +1 +0 +0$/);
});

test('a reason counts for the very change it was given for', () => {
  const mutants = [
    mutant('a.ts', 'Survived'),
    mutant('a.ts', 'Survived', 'c < d'),
    mutant('b.ts', 'Survived'),
  ];
  expect(unexplained(mutants, [reason])).toEqual(mutants.slice(1));
  expect(scoresByFile(mutants, [reason]).find(({ file }) => file === 'a.ts')).toMatchObject({
    explained: 1,
    score: 0,
  });
});

test('a reason is outdated once its mutant is caught or gone, but not while its file was not run', () => {
  expect(outdated([mutant('a.ts', 'Survived')], [reason])).toEqual([]);
  expect(outdated([mutant('a.ts', 'Killed')], [reason])).toEqual([reason]);
  expect(outdated([mutant('a.ts', 'Survived', 'c < d')], [reason])).toEqual([reason]);
  expect(outdated([mutant('b.ts', 'Killed')], [reason])).toEqual([]);
});

test('the scores stand in a chapter of their own, once, and the rest of the page stays', () => {
  const mutants = ['Killed', 'Killed', 'Timeout', 'Survived'].map((status) => mutant('a.ts', status));
  const files = scoresByFile([...mutants, mutant('b.ts', 'NoCoverage')], [reason]);
  const before = '# Proof\n\ntext\n\n## Other\n\nmore\n';
  const page = withScores(before, [{ group: 'core queue', files }]);
  expect(page.startsWith(before)).toBe(true);
  expect(page).toContain('| core queue | 5 | 3 | 1 | 1 | 60.0 % |');
  const again = withScores(`${page}\n## Last\n\nend\n`, [{ group: 'core tree', files: [] }]);
  expect(again.match(/## Mutation scores/g)).toHaveLength(1);
  expect(again).toContain('| core tree | 0 | 0 | 0 | 0 | 100.0 % |');
  expect(again).not.toContain('core queue');
  expect(again.endsWith('\n\n## Last\n\nend\n')).toBe(true);
});
