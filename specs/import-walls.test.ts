import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { importGraph, knotsOf, longestChain } from '../scripts/import-graph.mjs';

const store = {
  refused: ['@parley/client', '@parley/store-other', 'parley-hub', '../../core/src/log.ts'],
  allowed: [
    '@parley/core',
    '@parley/core/rules',
    '@parley/protocol',
    '@parley/files',
    '@parley/sqlite',
    'node:fs',
  ],
};
const outer = {
  refused: ['@parley/core', '@parley/core/rules', '@parley/store-sqlite', '@parley/store-postgres'],
  allowed: ['@parley/protocol', 'node:fs', './threads.ts'],
};

const wallsByFile = {
  'packages/protocol/src/ids.ts': {
    refused: ['@parley/core', 'parley-hub', 'node:fs', '../../core/src/log.ts'],
    allowed: ['zod', './errors.ts'],
  },
  'packages/core/src/threads/post-message.ts': {
    refused: ['@parley/client', '@parley/store-sqlite', 'parley-hub', 'node:fs', 'node:fs/promises'],
    allowed: ['@parley/protocol', 'node:crypto', '../log.ts'],
  },
  'packages/store-sqlite/src/index.ts': store,
  'packages/store-postgres/src/index.ts': store,
  'packages/client/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', 'parley-hub', 'node:fs', '../../protocol/src/ids.ts'],
    allowed: ['@parley/protocol', './threads.ts'],
  },
  'packages/dashboard/src/index.ts': outer,
  'packages/runtimes/src/codex/open-codex.ts': {
    refused: [
      '@parley/core',
      '@parley/store-sqlite',
      '@parley/client',
      'parley-hub',
      '../../protocol/src/ids.ts',
    ],
    allowed: ['@parley/protocol', 'node:child_process', '../process/child.ts'],
  },
  'packages/supervisor/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', '@parley/sqlite', 'parley-hub'],
    allowed: ['@parley/client', '@parley/protocol', '@parley/runtimes', 'node:fs', './threads.ts'],
  },
  'packages/mail/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', '@parley/client', '@parley/runtimes', 'parley-hub'],
    allowed: ['@parley/protocol', '@parley/files', '@parley/sqlite', 'node:fs', './archive.ts'],
  },
  'packages/codex-proxy/src/start.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', '@parley/supervisor', 'parley-hub'],
    allowed: [
      '@parley/protocol',
      '@parley/client',
      '@parley/runtimes',
      '@parley/mail',
      '@parley/files',
      '@parley/sqlite',
      '@parley/supervisor/link',
      'node:fs',
    ],
  },
  'packages/bus/src/index.ts': {
    refused: ['@parley/store-postgres', '@parley/files', 'parley-hub', '../../core/src/log.ts'],
    allowed: ['@parley/core', '@parley/protocol', 'pg', 'node:crypto'],
  },
  'packages/files/src/index.ts': {
    refused: ['@parley/core', '@parley/sqlite', 'parley-hub'],
    allowed: ['@parley/protocol', 'node:fs'],
  },
  'packages/sqlite/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', 'parley-hub'],
    allowed: ['@parley/protocol', '@parley/files', 'node:module'],
  },
  'packages/search/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', 'parley-hub'],
    allowed: ['@parley/protocol', '@parley/files', '@parley/sqlite', 'node:worker_threads', './passages.ts'],
  },
  'packages/hub/src/faces/v1/handler.ts': {
    refused: ['@parley/store-sqlite', '../ws/frames.ts', '../newer/frames.ts', '../../config/schema.ts'],
    allowed: ['@parley/core', '../../auth/token.ts', '../face.ts', './config.ts'],
  },
  'packages/hub/src/faces/v1/stream/frames.ts': {
    refused: ['../../ws/frames.ts', '../../../config/schema.ts', '../../../cli/output.ts'],
    allowed: ['../handler.ts', '../../../auth/token.ts'],
  },
  'packages/hub/src/verify/sessions.ts': {
    refused: ['../cli/run/init/claude-settings.ts'],
    allowed: ['../wake/claude-hooks.ts', '../config/load.ts'],
  },
  'packages/hub/src/start.ts': {
    refused: ['../../core/src/log.ts'],
    allowed: ['@parley/core', '@parley/store-sqlite', './config/schema.ts', './faces/v1/handler.ts'],
  },
};

/** Words of the protocol that some may not use: the core those of `/ws`, nobody what the head of a command is made with. */
const wordsByFile = {
  'packages/core/src/live/broker.ts': ['ENTRY_SALT_BOUND', 'LiveMessage', 'LiveError', 'toToolMessage'],
  'packages/hub/src/auth/devices.ts': ['ENTRY_SALT_BOUND'],
  'packages/hub/src/faces/envelope/deprecations.ts': ['ENTRY_SALT_BOUND'],
};

let folder: string;
let complaints: string[];
beforeAll(() => {
  const repository = fileURLToPath(new URL('..', import.meta.url));
  folder = mkdtempSync(join(tmpdir(), 'parley-walls-'));
  for (const file of ['.oxlintrc.json', 'scripts/lint-rules.mjs'])
    cpSync(join(repository, file), join(folder, file), { recursive: true });
  for (const [file, { refused, allowed }] of Object.entries(wallsByFile)) {
    const lines = [...refused, ...allowed].map((name, index) => `export { x${index} } from '${name}';\n`);
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), lines.join(''));
  }
  for (const [file, words] of Object.entries(wordsByFile)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(
      join(folder, file),
      ['Caller', ...words].map((word) => `export { ${word} } from '@parley/protocol';\n`).join(''),
    );
  }
  const oxlint = [join(repository, 'node_modules/oxlint/bin/oxlint'), '-f', 'unix'];
  const { stdout } = spawnSync(process.execPath, oxlint, { cwd: folder, encoding: 'utf8' });
  complaints = stdout.split('\n').filter((line) => line.includes('no-restricted-imports'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test.each(Object.entries(wallsByFile))('%s imports nothing across a wall', (file, { refused }) => {
  const ofFile = complaints.filter((line) => line.startsWith(`${file}:`));
  expect(new Set(ofFile.map((line) => /'(.+?)'/.exec(line)?.[1]))).toEqual(new Set(refused));
});

test.each(Object.entries(wordsByFile))('%s uses no word that is not its own', (file, words) => {
  const ofFile = complaints.filter((line) => line.startsWith(`${file}:`));
  expect(ofFile).toHaveLength(words.length);
  for (const [i, word] of words.entries()) expect(ofFile[i]).toContain(`'${word}'`);
});

/** A longer chain of files, each of which imports the next, is hard to follow. */
const LONGEST_CHAIN = 48;

test('no files import each other in a circle, not even their types, and no chain of imports is long', () => {
  const graph = importGraph();
  expect(graph.size).toBeGreaterThan(900);
  expect(knotsOf(graph).filter((knot) => knot.length > 1)).toEqual([]);
  expect(longestChain(graph).length).toBeLessThanOrEqual(LONGEST_CHAIN);
});

test('a circle of imports is found however long it is, and counts whole in the chain', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'x']],
    ['c', ['a']],
    ['d', ['c']],
    ['x', []],
  ]);
  expect(knotsOf(graph).map((knot) => knot.toSorted())).toEqual([['x'], ['a', 'b', 'c'], ['d']]);
  expect(longestChain(graph)).toHaveLength(5);
});
