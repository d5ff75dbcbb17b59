/** Brings what the tests drive but the product does not need; says for each tool where it is, or why it is not there. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianTools } from './debian-tools.mjs';
import { npmTools } from './npm-tools.mjs';
import { aptGet, lastLines, progress, run } from './run.mjs';
import { unpackBundle, unpackFromDebian } from './unpack.mjs';

const folder = path.dirname(fileURLToPath(import.meta.url));
const report = path.join(folder, '..', '..', '.cache', 'tools.json');

/** Makes every tool available that this machine can have, in under a second when nothing is to do. */
export async function installTestTools() {
  const stamp = await stampOf('package-lock.json', 'npm-tools.mjs', 'debian-tools.mjs', 'unpack.mjs');
  const known = await readReport();
  if (known?.stamp === stamp && allThere(known.tools)) return known.tools;

  const tools = { ...(await installFromNpm()), ...(await installFromDebian()) };
  await mkdir(path.dirname(report), { recursive: true });
  const draft = `${report}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify({ stamp, tools }, null, 2)}\n`);
  await rename(draft, report);
  return tools;
}

async function stampOf(...names) {
  const hash = createHash('sha256');
  hash.update(`${process.platform} ${process.arch} ${process.version}`);
  for (const name of names) hash.update(await readFile(path.join(folder, name)));
  return hash.digest('hex');
}

async function readReport() {
  try {
    return JSON.parse(await readFile(report, 'utf8'));
  } catch {
    return undefined;
  }
}

function allThere(tools) {
  return Object.values(tools).every((tool) => tool.path !== undefined && existsSync(tool.path));
}

async function installFromNpm() {
  const stamp = await stampOf('package-lock.json');
  const stampFile = path.join(folder, 'node_modules', '.stamp');
  const installed = await readFile(stampFile, 'utf8').catch(() => '');
  if (installed === stamp && missing(npmTools(folder)).length === 0) {
    return describe(npmTools(folder), () => '');
  }
  progress('installing the real clients and the conformance suite (1.8 GB, about half a minute)');
  let failure = '';
  for (const attempt of [1, 2]) {
    const npm = await runNpmCi();
    failure = npm.code === 0 ? '' : `npm ci failed: ${lastLines(npm.output, 3)}`;
    // npm leaves out an optional package that it could not download and still succeeds.
    if (failure === '' && missing(npmTools(folder)).length === 0) {
      await writeFile(stampFile, stamp);
      break;
    }
    if (attempt === 1) progress('something is missing, trying once more');
  }
  return describe(npmTools(folder), () => failure);
}

function runNpmCi() {
  // A surrounding `npm test` would otherwise point npm back at the root of the repository.
  const foreign =
    /^npm_(package|lifecycle|command|config_(local_prefix|workspace|omit|include|ignore_scripts))/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const args = ['ci', '--ignore-scripts', '--include=optional', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  return npm?.endsWith('.js')
    ? run(process.execPath, [npm, ...args], { cwd: folder, env, minutes: 20 })
    : run('npm', args, { cwd: folder, env, minutes: 20 });
}

async function installFromDebian() {
  const absent = missing(debianTools());
  const named = (way) => [...new Set(absent.flatMap((tool) => tool[way] ?? []))];
  // What is installed need not be unpacked.
  const uninstalled = await installPackages(named('packages'));
  const packed = await unpackFromDebian(named('unpack'));
  const bundles = new Map();
  for (const { name, bundle } of absent) if (bundle) bundles.set(name, await unpackBundle(bundle));
  return describe(debianTools(), (tool) => {
    if (tool.bundle) return bundles.get(tool.name);
    return tool.unpack ? packed : uninstalled;
  });
}

async function installPackages(packages) {
  if (packages.length === 0) return '';
  if (!existsSync('/usr/bin/apt-get')) return `needs ${packages.join(', ')} of Debian or Ubuntu`;
  if (process.getuid?.() !== 0) return `not root; run: apt-get install ${packages.join(' ')}`;
  progress(`installing ${packages.join(', ')} with apt-get`);
  await aptGet('update');
  const all = await aptGet('install', '-y', '--no-install-recommends', ...packages);
  let failure = '';
  if (all.code !== 0) {
    // One unknown package fails the whole call: then each has its own try.
    for (const name of packages) {
      const one = await aptGet('install', '-y', '--no-install-recommends', name);
      if (one.code !== 0) failure = `apt-get install ${name}: ${lastLines(one.output, 1)}`;
    }
  }
  return failure;
}

function missing(tools) {
  return tools.filter((tool) => tool.path === undefined && tool.unavailable === undefined);
}

function describe(tools, failureOf) {
  const reason = (tool) => tool.unavailable ?? (failureOf(tool) || 'not found after the installation');
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      tool.path === undefined ? { missing: reason(tool) } : { path: tool.path },
    ]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, tool] of Object.entries(await installTestTools()))
    console.log(`${name.padEnd(12)} ${tool.path ?? `missing: ${tool.missing}`}`);
}
