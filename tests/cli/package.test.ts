import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, expect, test } from 'vitest';

import { allowForBrowsers } from '../dashboard/desk.ts';
import { spendFirstMinute } from '../dashboard/first-minute.ts';
import { describeWith } from '../tools/describe-with.ts';
import { bareEnvironment, freshPath, parley } from './parley.ts';

allowForBrowsers();

const root = fileURLToPath(new URL('../..', import.meta.url));
const preload = fileURLToPath(new URL('record-network.cjs', import.meta.url));
const run = promisify(execFile);

interface Bom {
  components: { name: string; version: string; properties: { value: string }[] }[];
}

let empty: string;
/** Where npm puts what is global, in this test. */
let prefix: string;
let hub: string;
let bom: Bom;
beforeAll(async () => {
  bom = JSON.parse(
    execFileSync(process.execPath, ['scripts/sbom.mjs'], { cwd: root, encoding: 'utf8' }),
  ) as Bom;
  empty = freshPath('empty');
  mkdirSync(empty);
  prefix = freshPath('prefix');
  hub = join(prefix, 'lib/node_modules/parley-hub');
  // The run of the tests has built the hub.
  const pack = ['run', '-s', 'pack', '--', freshPath('packs'), '--as-built'];
  const { stdout } = await run('npm', pack, { cwd: root });
  const packs = stdout.trim().split('\n');
  expect(packs).toHaveLength(3);
  // The person's own npm: the registry it knows, or what its cache holds.
  const args = [
    'install',
    '-g',
    '--prefix',
    prefix,
    '--ignore-scripts',
    '--prefer-offline',
    '--fetch-retries=1',
  ];
  const { stderr } = await run('npm', [...args, ...packs], { cwd: empty });
  expect(complaints(stderr)).toEqual([]);
}, 300_000);

/** What npm warns of, save what it says of the person's own configuration. */
function complaints(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => /warn|error/i.test(line) && !/Unknown (user|env) config/.test(line));
}

/** The folders of all packages that came with the hub. */
function* installed(folder = join(hub, 'node_modules')): Generator<string> {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name);
    if (name.startsWith('.')) continue;
    if (name.startsWith('@')) yield* installed(path);
    else yield path;
    yield* installed(join(path, 'node_modules'));
  }
}

test('[C-LOCAL-11] installed from its tarball the program works, and reaches for no network', async () => {
  const script = join(prefix, 'bin/parley');
  const record = freshPath('network');
  execFileSync('touch', [record]);
  const env = { NODE_OPTIONS: `--require=${preload}`, NETWORK_RECORD: record };
  const typed = (args: string[]) => parley([...args, '--data', freshPath()], { env, script, cwd: empty });
  const model = async (): Promise<unknown> => {
    const doctor = await typed(['doctor', '--json']);
    expect(doctor.code, doctor.stdout).toBe(0);
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string }[] };
    return checks.find(({ name }) => name === 'search model');
  };
  const demo = await typed(['demo', '--fast', '--json']);
  expect(demo.code, demo.stderr).toBe(0);
  expect(JSON.parse(demo.stdout)).toMatchObject({ status: 'resolved', open_items: [] });
  expect(await model()).toMatchObject({ ok: true, detail: expect.stringContaining('MiniLM') as unknown });
  expect(await typed(['run', '--', 'echo', 'at a terminal'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('at a terminal') as unknown,
  });
  expect((await typed(['token', 'issue', '--agent', 'a'])).code).toBe(0);
  // Without a runtime for the search model the words are enough, and that is said.
  rmSync(join(hub, 'node_modules/onnxruntime-node'), { recursive: true });
  expect(await model()).toEqual({
    name: 'search model',
    ok: true,
    detail: expect.stringMatching(/words alone are compared: .*onnxruntime-node/) as unknown,
  });
  const reached = new Set(readFileSync(record, 'utf8').trim().split('\n'));
  expect(reached).toEqual(new Set(['127.0.0.1']));
}, 120_000);

test('[C-LOCAL-11] the packages hold what they need to run and nothing else', () => {
  const beside = ['LICENSE', 'README.md', 'dist', 'package.json'];
  const shown = (name: string) => readdirSync(join(dirname(hub), name)).toSorted();
  expect(shown('parley-hub').filter((name) => name !== 'node_modules')).toEqual(
    ['bin', ...beside].toSorted(),
  );
  expect(readdirSync(join(hub, 'bin'))).toEqual(['parley.mjs']);
  expect(shown('atm-agent-mcp')).toEqual(expect.arrayContaining(['bin', ...beside]));
  expect(shown('parley-client')).toEqual(beside);
  for (const name of readdirSync(dirname(hub)).filter((each) => !each.startsWith('.')))
    expect(readFileSync(join(dirname(hub), name, 'package.json'), 'utf8')).not.toMatch(
      /@parley\/|devDependencies|"scripts"/,
    );
});

test('the commands work from a shell that finds them, and print themselves by their name', async () => {
  const env = bareEnvironment({ PATH: `${join(prefix, 'bin')}:${process.env['PATH'] ?? ''}` });
  const typed = async (command: string, ...args: string[]) =>
    (await run(command, args, { cwd: empty, env })).stdout;
  expect(await typed('atm-agent-mcp', '--version')).toBe('0.1.0\n');
  expect(await typed('parley', 'init', 'mcp')).toContain(join(prefix, 'bin/parley'));
  await expect(typed('parley', 'status')).rejects.toThrow(/start one with: parley serve/);
});

test('nothing that we say, write down or register sends anybody to a package of a stranger', async () => {
  const { stdout } = await run(
    'git',
    ['ls-files', '--', '*.md', 'packages', 'clients', 'examples', 'scripts'],
    {
      cwd: root,
    },
  );
  const files = stdout.trim().split('\n');
  expect(files.length).toBeGreaterThan(500);
  const telling = files.filter((path) => {
    // It tells that the name is a stranger's.
    if (path.endsWith('0120-packages-that-anybody-can-install.md') || path === 'CHANGELOG.md') return false;
    return /npx (-y |--yes )?parley|npm (exec|x) (-y |-- )?parley|npm i(nstall)?( -g)? parley\b(?!-)/.test(
      existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '',
    );
  });
  expect(telling).toEqual([]);
});

test('npm ci has nothing to warn of on the oldest Node that we promise', async () => {
  const folder = freshPath('clone');
  mkdirSync(folder);
  const { stdout } = await run(
    'git',
    ['ls-files', '--', 'package.json', 'package-lock.json', 'packages/*/package.json'],
    {
      cwd: root,
    },
  );
  for (const path of stdout.trim().split('\n')) cpSync(join(root, path), join(folder, path));
  const { stderr } = await run('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts'], { cwd: folder });
  expect(complaints(stderr)).toEqual([]);
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { engines?: { node?: string } }>;
  };
  // Whatever Node runs this: none asks for a later one than 20 alone.
  const later = Object.entries(packages).filter(([, { engines }]) =>
    /^>=? ?(2[1-9]|[3-9]\d)[.x\d]*$/.test(engines?.node ?? ''),
  );
  expect(later.map(([path]) => path)).toEqual([]);
});

test('[C-LOCAL-11] the list of parts names every installed package and every bundled one', () => {
  const names = bom.components.map(({ name }) => name);
  const places = [...installed()];
  expect(places.length).toBeGreaterThan(2);
  for (const place of places) {
    const { name, version } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    expect(bom.components).toContainEqual(expect.objectContaining({ name, version }));
  }
  const dist = join(hub, 'dist');
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

describeWith(['chromium', 'certutil'], 'the first minute', () => {
  test('from the tarballs on an empty machine to an answer that is given on a second device', () =>
    spendFirstMinute(prefix));
});

test('uninstalled, nothing of it is left', async () => {
  // As the page says it.
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  const names = /^npm uninstall -g (.+)$/m.exec(page)?.[1]?.split(' ') ?? [];
  await run('npm', ['uninstall', '-g', '--prefix', prefix, ...names], { cwd: empty });
  expect(readdirSync(join(prefix, 'bin'))).toEqual([]);
  expect(readdirSync(dirname(hub)).filter((name) => !name.startsWith('.'))).toEqual([]);
});
