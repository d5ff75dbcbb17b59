import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { isKept, PROMISES, promiseText } from '../../bench/promises.ts';
import { LONG_FORMS, sizeOf } from './long-forms.ts';
import { proofTable, withChapters } from './proof-table.ts';

test.each(Object.entries(LONG_FORMS))(
  'the long form of %s names a test that is there and takes its size from it',
  (id, form) => {
    const source = readFileSync(new URL(`../../${form.file}`, import.meta.url), 'utf8');
    expect(source).toContain(form.test);
    expect(source).toContain(`sizeOf('${id}')`);
    expect(source).toMatch(new RegExp(`measured\\(\\s*'${id}'`));
    expect(Object.keys(form.short)).toEqual(Object.keys(form.long));
  },
);

test('npm test takes the short forms', () => {
  expect(sizeOf('C-DUR-03')).toEqual(LONG_FORMS['C-DUR-03'].short);
});

test('the table says what held, what did not with its figures, and what was not run', () => {
  const of = { title: 'done', bound: 'at most 1 | 2' };
  const result = {
    id: 'x',
    at: '2030-01-01T00:00:00Z',
    minutes: 1.25,
    figures: [{ what: 'p95', figure: '3 ms' }],
  };
  const page = proofTable({
    code: 'abc',
    machine: 'm',
    rows: [
      { id: 'A', ...of, result: { ...result, held: true } },
      { id: 'B', ...of, result: { ...result, held: false } },
      { id: 'C', ...of, result: undefined },
    ],
  });
  expect(page).toContain('1 held, 1 did not, 1 were not run');
  expect(page).toContain('| A | done | at most 1 \\| 2 | p95: 3 ms | yes | 1.3 min |');
  expect(page).toContain('| B | done | at most 1 \\| 2 | p95: 3 ms | **no** | 1.3 min |');
  expect(page).toContain('| C | done | at most 1 \\| 2 |  | not run |  |');
});

test('a new table leaves what people wrote below the old one', () => {
  const chapters = '\n## One\n\nwords\n\n## Two\n';
  expect(withChapters('# new\n', `# old\n\n| a |\n${chapters}`)).toBe(`# new\n${chapters}`);
  expect(withChapters('# new\n', '# old\n')).toBe('# new\n');
});

test('a bench keeps its promise up to the bound and not beyond it', () => {
  const { 'batching.ratio': least, 'isolation.p99': most } = PROMISES;
  expect([4.99, 5].map((value) => isKept(least, value))).toEqual([false, true]);
  expect([15, 15.01].map((value) => isKept(most, value))).toEqual([true, false]);
  expect(isKept(most, Number.NaN)).toBe(false);
  expect([promiseText(least), promiseText(most)]).toEqual(['at least 5 times', 'at most 15 ms']);
});
