import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { inCi } from './in-ci.ts';

test('CI=false, CI=0 and an empty CI are no CI', () => {
  const said = [undefined, '', '0', 'false', 'true', '1', 'yes'].map((CI) =>
    inCi(CI === undefined ? {} : { CI }),
  );
  expect(said).toEqual([false, false, false, false, true, true, true]);
});

test.each(['specs/check-proof.ts', 'tests/tools/describe-with.ts', 'tests/faults/as-root.ts'])(
  '%s asks nobody else',
  (path) => {
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('inCi()');
    expect(text).not.toContain("env['CI']");
  },
);
