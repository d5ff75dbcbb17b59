import { fileURLToPath } from 'node:url';

import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';

import { bundles } from '../scripts/bundles.mjs';
import { importDirectly } from '../scripts/direct-imports.mjs';

const SOURCES = new Map([
  ['protocol', new Map([['inboxName', { module: '/p/address.ts', original: 'fileName' }]])],
]);

describe('imports from a package', () => {
  test('go to the module that has the thing, under the name that it has there, on the same lines', () => {
    const text = "import {\n  inboxName as name,\n  type Inbox,\n} from '@parley/protocol';\nname();\n";
    const direct = "import { fileName as name } from '/p/address.ts';\n\n\n\nname();\n";
    expect(importDirectly(text, SOURCES)).toBe(direct);
  });
  test('of what it does not export fail the build', () => {
    expect(() => importDirectly("import { absent } from '@parley/protocol';", SOURCES)).toThrow(/absent/);
  });
});

describe('a command loads what it needs', () => {
  let outputs: Metafile['outputs'] = {};
  beforeAll(async () => {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const made = await build({ ...bundles.hub, metafile: true, write: false, absWorkingDir: root });
    outputs = made.metafile.outputs;
  });

  test.each([
    ['main.ts', /zod|contracts|packages\/core/],
    ['cli/operate/token.ts', /contracts|packages\/core|packages\/store-sqlite/],
    ['cli/run/status.ts', /contracts|packages\/core/],
    ['cli/talk/thread/commands.ts', /contracts|packages\/core/],
  ])('%s, and nothing of %s', (file, strangers) => {
    const loaded = loadedBy(`packages/hub/src/${file}`);
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.filter((path) => strangers.test(path))).toEqual([]);
  });

  /** Every source file in the parts that a source file needs before it runs. */
  function loadedBy(source: string): string[] {
    const [first] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
    const parts = new Set(first === undefined ? [] : [first]);
    for (const part of parts)
      for (const { path, kind } of outputs[part]?.imports ?? [])
        if (kind === 'import-statement' && path in outputs) parts.add(path);
    return [...parts].flatMap((part) => Object.keys(outputs[part]?.inputs ?? {}));
  }
});
