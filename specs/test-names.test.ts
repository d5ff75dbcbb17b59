import { expect, test } from 'vitest';
import { idsIn, idsInSource, idsOnSuites } from './test-names.ts';

test('ids are read from the start of a name or of a suite around it', () => {
  expect(idsIn('[HUB-R5] [C-HUB-05] retry returns the first result')).toEqual(['HUB-R5', 'C-HUB-05']);
  expect(idsIn('sqlite > [AT mail/3] mail waits > 1 day')).toEqual(['AT mail/3']);
  expect(idsIn('[FR-8.6] mail > marks what was sent')).toEqual(['FR-8.6']);
  expect(idsIn('retry as in [HUB-R5]')).toEqual([]);
});

test('ids are found in a source where they stand literally', () => {
  const source = `
    test('[HUB-R5] [C-HUB-05] retry', () => {});
    test.each(faces)(\`[R2] seq over %s\`, () => {});
    const cases = [{ name: "[AT mail/3] waits" }];
    // [HUB-R6] in a comment names nothing
    const range = /[A-Z0-9]/, other = '[a-z0-9]', text = 'see [HUB-R7]';
  `;
  expect(idsInSource(source)).toEqual(['HUB-R5', 'C-HUB-05', 'R2', 'AT mail/3']);
});

test('a misspelt id is still seen as an id', () => {
  expect(idsInSource(`test('[hub-r5] [HUB-R55] [C-HUBB-1] x')`)).toEqual(['hub-r5', 'HUB-R55', 'C-HUBB-1']);
});

test('an id on a suite alone is told from one that a test has too', () => {
  const source = `
    describe('[HUB-R5] [HUB-R6] keys', () => {
      test('[HUB-R6] bind', () => {});
      describeWith(
        ['chromium'],
        '[R2] in a browser', () => {});
    });
  `;
  expect(idsOnSuites(source)).toEqual(['HUB-R5', 'R2']);
});
