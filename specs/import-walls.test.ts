import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const store = {
  refused: ['@parley/client', '@parley/store-other', 'parley', '../../core/src/log.ts'],
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
    refused: ['@parley/core', 'parley', 'node:fs', '../../core/src/log.ts'],
    allowed: ['zod', './errors.ts'],
  },
  'packages/core/src/threads/post-message.ts': {
    refused: ['@parley/client', '@parley/store-sqlite', 'parley', 'node:fs', 'node:fs/promises'],
    allowed: ['@parley/protocol', 'node:crypto', '../log.ts'],
  },
  'packages/store-sqlite/src/index.ts': store,
  'packages/store-postgres/src/index.ts': store,
  'packages/client/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', 'parley', 'node:fs', '../../protocol/src/ids.ts'],
    allowed: ['@parley/protocol', './threads.ts'],
  },
  'packages/dashboard/src/index.ts': outer,
  'packages/runtimes/src/codex/open-codex.ts': {
    refused: [
      '@parley/core',
      '@parley/store-sqlite',
      '@parley/client',
      'parley',
      '../../protocol/src/ids.ts',
    ],
    allowed: ['@parley/protocol', 'node:child_process', '../process/child.ts'],
  },
  'packages/supervisor/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', '@parley/sqlite', 'parley'],
    allowed: ['@parley/client', '@parley/protocol', '@parley/runtimes', 'node:fs', './threads.ts'],
  },
  'packages/mail/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', '@parley/client', '@parley/runtimes', 'parley'],
    allowed: ['@parley/protocol', '@parley/files', '@parley/sqlite', 'node:fs', './archive.ts'],
  },
  'packages/codex-proxy/src/start.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', '@parley/supervisor', 'parley'],
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
  'packages/files/src/index.ts': {
    refused: ['@parley/core', '@parley/sqlite', 'parley'],
    allowed: ['@parley/protocol', 'node:fs'],
  },
  'packages/sqlite/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', 'parley'],
    allowed: ['@parley/protocol', '@parley/files', 'node:module'],
  },
  'packages/search/src/index.ts': {
    refused: ['@parley/core', '@parley/store-sqlite', 'parley'],
    allowed: ['@parley/protocol', '@parley/files', '@parley/sqlite', 'node:worker_threads', './passages.ts'],
  },
  'packages/hub/src/faces/v1/handler.ts': {
    refused: ['@parley/store-sqlite', '../ws/frames.ts', '../newer/frames.ts', '../../config/schema.ts'],
    allowed: ['@parley/core', '../../auth/token.ts', '../face.ts', './config.ts'],
  },
  'packages/hub/src/faces/v1/stream/frames.ts': {
    refused: ['../../ws/frames.ts', '../../../config/schema.ts'],
    allowed: ['../handler.ts', '../../../auth/token.ts'],
  },
  'packages/hub/src/start.ts': {
    refused: ['../../core/src/log.ts'],
    allowed: ['@parley/core', '@parley/store-sqlite', './config/schema.ts', './faces/v1/handler.ts'],
  },
};

let folder: string;
let complaints: string[];
beforeAll(() => {
  const repository = fileURLToPath(new URL('..', import.meta.url));
  folder = mkdtempSync(join(tmpdir(), 'parley-walls-'));
  cpSync(join(repository, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
  for (const [file, { refused, allowed }] of Object.entries(wallsByFile)) {
    const lines = [...refused, ...allowed].map((name, index) => `export { x${index} } from '${name}';\n`);
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), lines.join(''));
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
