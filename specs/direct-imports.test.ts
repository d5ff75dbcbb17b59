import { fileURLToPath } from 'node:url';

import { build, type BuildOptions, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';

import { bundles } from '../scripts/bundles.mjs';
import { importDirectly } from '../scripts/direct-imports.mjs';
import { inFewerParts } from '../scripts/fewer-parts.mjs';

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
  /** In the parts that esbuild makes by itself. */
  let scattered: Metafile['outputs'] = {};
  let proxy: Metafile['outputs'] = {};
  beforeAll(async () => {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const built = async (bundle: BuildOptions) =>
      (await build({ ...bundle, metafile: true, write: false, absWorkingDir: root })).metafile.outputs;
    [outputs, scattered] = [await built(await inFewerParts(bundles.hub)), await built(bundles.hub)];
    proxy = await built(bundles['codex-proxy']);
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

  test('atm-agent-mcp nothing of what the first call of a mail tool or a link to the hub needs', () => {
    const loaded = loadedBy('packages/codex-proxy/src/main.ts', proxy);
    expect(loaded.length).toBeGreaterThan(50);
    expect(loaded.filter((path) => /@modelcontextprotocol|contracts|node_modules\/ws\//.test(path))).toEqual(
      [],
    );
  });

  test('and from a few files: Node opens all of them at once, and a machine may have few descriptors to spare', () => {
    const entries = Object.values(scattered).flatMap(({ entryPoint }) => entryPoint ?? []);
    expect(entries.length).toBeGreaterThan(50);
    expect(entries.filter((source) => partsOf(source, outputs).length > 44)).toEqual([]);
    expect(Object.keys(outputs).length).toBeLessThan(0.75 * Object.keys(scattered).length);
    const longer = entries.filter(
      (source) => lengthOf(source, outputs) > 1.25 * lengthOf(source, scattered) + 4_096,
    );
    expect(longer).toEqual([]);
  });

  /** Every source file in the parts that a source file needs before it runs. */
  function loadedBy(source: string, among = outputs): string[] {
    return partsOf(source, among).flatMap((part) => Object.keys(among[part]?.inputs ?? {}));
  }

  function lengthOf(source: string, among: Metafile['outputs']): number {
    return partsOf(source, among).reduce((sum, part) => sum + (among[part]?.bytes ?? 0), 0);
  }

  function partsOf(source: string, among: Metafile['outputs']): string[] {
    const [first] = Object.entries(among).find(([, { entryPoint }]) => entryPoint === source) ?? [];
    const parts = new Set(first === undefined ? [] : [first]);
    for (const part of parts)
      for (const { path, kind } of among[part]?.imports ?? [])
        if (kind === 'import-statement' && path in among) parts.add(path);
    return [...parts];
  }
});
