import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { isKept, PROMISES, promiseText } from '../../bench/promises.ts';
import { LONG_FORMS, sizeOf } from './long-forms.ts';
import { proofTable, withChapters } from './proof-table.ts';
import { mostTelling, readResults, writeResults } from './results.ts';

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

const result = {
  id: 'x',
  at: '2030-01-01T00:00:00Z',
  minutes: 1.25,
  code: 'abc',
  machine: 'two cores',
  figures: [{ what: 'p95', figure: '3 ms' }],
};

test('the table says what held, what did not and what never ran, on which code, and the figures stand below', () => {
  const of = { title: 'done', bound: 'at most 1 | 2' };
  const page = proofTable({
    code: 'abc',
    rows: [
      { id: 'A', ...of, result: { ...result, held: true } },
      { id: 'B', ...of, result: { ...result, held: false, code: 'older' } },
      { id: 'C', ...of, result: undefined },
    ],
  });
  expect(page).toContain('Of 3, 1 held, 1 did not, 1 never ran. On the code as it stands (abc) ran 1.');
  expect(page).toContain('| A | done | at most 1 \\| 2 | yes | 1.3 min | 2030-01-01, abc |');
  expect(page).toContain('| B | done | at most 1 \\| 2 | **no** | 1.3 min | 2030-01-01, older |');
  expect(page).toContain('| C | done | at most 1 \\| 2 | not run |  |  |');
  expect(page).toContain('\nA\n  p95: 3 ms\n  on: two cores\n');
});

test('what never ran comes first, then what did not hold, then what ran longest ago', () => {
  const results = new Map([
    ['old', { ...result, held: true, at: '2029-01-01T00:00:00Z' }],
    ['new', { ...result, held: true }],
    ['failed', { ...result, held: false }],
  ]);
  const all = ['new', 'old', 'failed', 'first', 'second'];
  expect(mostTelling(all, results)).toEqual(['first', 'second', 'failed', 'old', 'new']);
});

test('results are read as they were written, in the order of what there is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-prove-'));
  const path = join(folder, 'proof.json');
  expect(readResults(path)).toEqual(new Map());
  const [a, b] = ['a', 'b'].map((id) => ({ ...result, id, held: true }));
  if (a === undefined || b === undefined) throw new Error('two results');
  writeResults(path, ['b', 'a'], new Map([a, b, { ...a, id: 'gone' }].map((one) => [one.id, one])));
  expect([...readResults(path)]).toEqual([
    ['b', b],
    ['a', a],
  ]);
  await rm(folder, { recursive: true });
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
