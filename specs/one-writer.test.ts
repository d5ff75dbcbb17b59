import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../packages', import.meta.url));

/** What puts bytes into a file without the promises of packages/files. */
const BARE = /\b(writeFile|writev?Sync|createWriteStream|copyFile|cpSync|appendFile)/;

/** Who writes otherwise, and why. */
const OTHERS = {
  'codex-proxy/src/audit/open-audit.ts':
    'a log: a line that a full disk has cut short does not swallow the next',
  'hub/src/reserve.ts': 'room for the next start: what it holds does not matter',
  'mail/src/archive.ts': 'a log: a line that a full disk has cut short does not swallow the next',
  'runtimes/src/terminal/pty-input.ts': 'a terminal, not a file',
};

test('every file is written by packages/files, which leaves it whole or as it was', () => {
  const sources = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /^[^/]+\/src\/.*\.(?:tsx?|mjs)$/.test(path) && !/\.test\.ts$|\/test-|^files\//.test(path),
  );
  expect(sources.length).toBeGreaterThan(500);
  const bare = sources.filter((path) => BARE.test(readFileSync(`${packages}/${path}`, 'utf8')));
  expect(bare.toSorted()).toEqual(Object.keys(OTHERS));
});
