/** Brings what the tests drive but the product does not need; says for each tool where it is, or why it is not there. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianTools, UNPACKED } from './debian-tools.mjs';
import { npmTools } from './npm-tools.mjs';

const folder = path.dirname(fileURLToPath(import.meta.url));
const report = path.join(folder, '..', '..', '.cache', 'tools.json');

/** Makes every tool available that this machine can have, in under a second when nothing is to do. */
export async function installTestTools() {
  const stamp = await stampOf('package-lock.json', 'npm-tools.mjs', 'debian-tools.mjs');
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
    return describe(npmTools(folder), '');
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
  return describe(npmTools(folder), failure);
}

function runNpmCi() {
  // A surrounding `npm test` would otherwise point npm back at the root of the repository.
  const foreign =
    /^npm_(package|lifecycle|command|config_(local_prefix|workspace|omit|include|ignore_scripts))/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const args = ['ci', '--ignore-scripts', '--include=optional', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  return npm?.endsWith('.js')
    ? run(process.execPath, [npm, ...args], { env, minutes: 20 })
    : run('npm', args, { env, minutes: 20 });
}

async function installFromDebian() {
  const absent = missing(debianTools());
  const unpacking = [...new Set(absent.flatMap((tool) => tool.unpack ?? []))];
  const unpackFailure = await unpackFromDebian(unpacking);
  const packages = [...new Set(absent.flatMap((tool) => tool.packages ?? []))];
  if (packages.length === 0) return describe(debianTools(), unpackFailure);
  if (!existsSync('/usr/bin/apt-get')) {
    return describe(debianTools(), `needs ${packages.join(', ')} of Debian or Ubuntu`);
  }
  if (process.getuid?.() !== 0) {
    return describe(debianTools(), `not root; run: apt-get install ${packages.join(' ')}`);
  }
  progress(`installing ${packages.join(', ')} with apt-get`);
  await aptGet('update');
  let failure = '';
  const all = await aptGet('install', '-y', '--no-install-recommends', ...packages);
  if (all.code !== 0) {
    // One unknown package fails the whole call: then each has its own try.
    for (const name of packages) {
      const one = await aptGet('install', '-y', '--no-install-recommends', name);
      if (one.code !== 0) failure = `apt-get install ${name}: ${lastLines(one.output, 1)}`;
    }
  }
  return describe(debianTools(), failure || unpackFailure);
}

/** Unpacks packages beside the system: installed, they would start a service of their own. Needs no root. */
async function unpackFromDebian(names) {
  if (names.length === 0) return '';
  if (!existsSync('/usr/bin/apt-get')) return `needs ${names.join(', ')} of Debian or Ubuntu`;
  progress(`unpacking ${names.join(', ')} from the Debian archive`);
  const room = path.join(UNPACKED, `download-${process.pid}`);
  await mkdir(room, { recursive: true });
  try {
    let got = await run('/usr/bin/apt-get', ['download', ...names], { cwd: room, minutes: 5 });
    if (got.code !== 0 && process.getuid?.() === 0) {
      await aptGet('update');
      got = await run('/usr/bin/apt-get', ['download', ...names], { cwd: room, minutes: 5 });
    }
    if (got.code !== 0) return `apt-get download: ${lastLines(got.output, 1)}`;
    for (const file of await readdir(room)) {
      const out = await run('/usr/bin/dpkg-deb', ['-x', path.join(room, file), UNPACKED], { minutes: 5 });
      if (out.code !== 0) return `dpkg-deb: ${lastLines(out.output, 1)}`;
    }
    return '';
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return run('/usr/bin/apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    env,
    minutes: 10,
  });
}

function missing(tools) {
  return tools.filter((tool) => tool.path === undefined && tool.unavailable === undefined);
}

function describe(tools, failure) {
  const reason = failure || 'not found after the installation';
  return Object.fromEntries(
    tools.map(({ name, path: found, unavailable }) => [
      name,
      found === undefined ? { missing: unavailable ?? reason } : { path: found },
    ]),
  );
}

function lastLines(text, count) {
  return text.trim().split('\n').slice(-count).join(' ');
}

function run(command, args, { env = process.env, cwd = folder, minutes }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk) => (output = (output + chunk).slice(-4000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const timer = setTimeout(() => child.kill('SIGKILL'), minutes * 60_000);
    child.on('error', (error) => keep(error.message));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

const progress = (text) => process.stderr.write(`test tools: ${text}\n`);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, tool] of Object.entries(await installTestTools()))
    console.log(`${name.padEnd(12)} ${tool.path ?? `missing: ${tool.missing}`}`);
}
