import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { describedSurface } from '../harness/surface.ts';
import { describeWith } from '../tools/describe-with.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-lint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { openapi, asyncapi } = describedSurface();
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openapi));
writeFileSync(join(folder, 'asyncapi.json'), JSON.stringify(asyncapi));
writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\n');
writeFileSync(join(folder, 'spectral.yaml'), 'extends: ["spectral:oas", "spectral:asyncapi"]\n');

/** They load much before they say a word. */
const LONG = { timeout: 240_000 };

const run = (...args: string[]) => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, REDOCLY_TELEMETRY: 'off' };
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
};

describeWith(
  ['redocly', 'spectral', 'asyncapi'],
  'the descriptions',
  ({ redocly, spectral, asyncapi: parser }) => {
    test('Redocly finds no error and no warning', LONG, () => {
      const { stdout, status } = run(
        redocly,
        'lint',
        'openapi.json',
        '--config',
        'redocly.yaml',
        '--format',
        'json',
      );
      const { totals } = JSON.parse(stdout) as { totals: Record<string, number> };
      expect([status, totals]).toEqual([0, { errors: 0, warnings: 0, ignored: 0 }]);
    });

    test('Spectral finds no error and no warning', LONG, () => {
      const files = ['openapi.json', 'asyncapi.json'];
      const { stdout } = run(spectral, 'lint', ...files, '-r', 'spectral.yaml', '-f', 'json');
      expect(JSON.parse(stdout.slice(0, stdout.lastIndexOf(']') + 1))).toEqual([]);
    });

    test('the AsyncAPI parser finds no error and no warning', LONG, () => {
      const script = `const { Parser } = require(${JSON.stringify(parser)});
new Parser().parse(require('node:fs').readFileSync('asyncapi.json', 'utf8')).then(({ document, diagnostics }) =>
  console.log(JSON.stringify([document !== undefined, diagnostics.filter(({ severity }) => severity < 2)])));`;
      expect(JSON.parse(run('-e', script).stdout)).toEqual([true, []]);
    });
  },
);
