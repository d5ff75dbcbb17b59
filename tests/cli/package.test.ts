import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { beforeAll, expect, test } from 'vitest';

import { bareEnvironment, freshPath, parley } from './parley.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const preload = fileURLToPath(new URL('record-network.cjs', import.meta.url));

interface Bom {
  components: { name: string; version: string; properties: { value: string }[] }[];
}

let folder: string;
let bom: Bom;
beforeAll(() => {
  bom = JSON.parse(
    execFileSync(process.execPath, ['scripts/sbom.mjs'], { cwd: root, encoding: 'utf8' }),
  ) as Bom;
  const packs = freshPath('packs');
  folder = freshPath('empty');
  for (const path of [packs, folder]) mkdirSync(path);
  const npm = (args: string[], cwd: string): void => {
    execFileSync('npm', [...args, '--ignore-scripts', '--offline', '--no-audit', '--no-fund'], {
      cwd,
      env: bareEnvironment(),
      stdio: 'pipe',
    });
  };
  const installed = bom.components.filter(({ properties }) => properties[0]?.value === 'installed');
  const sources = ['packages/hub', ...installed.map(({ name }) => `node_modules/${name}`)];
  npm(['pack', '--pack-destination', packs, ...sources.map((path) => join(root, path))], root);
  writeFileSync(join(folder, 'package.json'), '{"name":"empty","private":true}');
  // The runtime of the search model is large, and the hub works without it.
  npm(['install', '--omit=optional', ...readdirSync(packs).map((name) => join(packs, name))], folder);
});

test('[C-LOCAL-11] the packed program installs without scripts, works, and reaches for no network', async () => {
  const script = join(folder, 'node_modules/parley/bin/parley.mjs');
  const record = freshPath('network');
  writeFileSync(record, '');
  const env = { NODE_OPTIONS: `--require=${preload}`, NETWORK_RECORD: record };
  const run = (args: string[]) => parley([...args, '--data', freshPath()], { env, script, cwd: folder });
  const demo = await run(['demo', '--fast', '--json']);
  expect(demo.code, demo.stderr).toBe(0);
  expect(JSON.parse(demo.stdout)).toMatchObject({ status: 'resolved', open_items: [] });
  // There is no runtime for the search model: the words are enough, and that is said.
  const doctor = await run(['doctor', '--json']);
  expect(doctor.code).toBe(0);
  expect((JSON.parse(doctor.stdout) as { checks: unknown[] }).checks).toContainEqual({
    name: 'search model',
    ok: true,
    detail: expect.stringMatching(/words alone are compared: .*onnxruntime-node/) as unknown,
  });
  expect(await run(['run', '--', 'echo', 'at a terminal'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('at a terminal'),
  });
  expect((await run(['token', 'issue', '--agent', 'a'])).code).toBe(0);
  const reached = new Set(readFileSync(record, 'utf8').trim().split('\n'));
  expect(reached).toEqual(new Set(['127.0.0.1']));
});

test('[C-LOCAL-11] the package holds what it needs to run and nothing else', () => {
  const place = join(folder, 'node_modules/parley');
  expect(readdirSync(place).toSorted()).toEqual(['bin', 'dist', 'package.json']);
  expect(readdirSync(join(place, 'bin'))).toEqual(['parley.mjs']);
});

test('[C-LOCAL-11] the list of parts names every installed package and every bundled one', () => {
  const names = bom.components.map(({ name }) => name);
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  for (const [path, { version }] of Object.entries(packages)) {
    const name = path.replace('node_modules/', '');
    if (name === 'parley') continue;
    expect(bom.components).toContainEqual(expect.objectContaining({ name, version }));
  }
  const dist = join(folder, 'node_modules/parley/dist');
  const maps = readdirSync(dist).filter((name) => name.endsWith('.js.map'));
  const sources = maps.flatMap(
    (name) => (JSON.parse(readFileSync(join(dist, name), 'utf8')) as { sources: string[] }).sources,
  );
  const inside = sources.flatMap((path) => {
    const carried = /\/\.pnpm\/((?:@[^+/]+\+)?[^@/]+)@/.exec(path)?.[1]?.replace('+', '/');
    return carried ?? /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [];
  });
  // Not a package: the inside of the SDK, which is on the list.
  const unpublished = '@modelcontextprotocol/core-internal';
  expect(new Set(inside).size).toBeGreaterThan(5);
  for (const name of new Set(inside)) if (name !== unpublished) expect(names).toContain(name);
});
