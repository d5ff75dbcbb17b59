import { directImports } from './direct-imports.mjs';

/** What every bundle shares. */
const common = {
  plugins: [directImports()],
  bundle: true,
  platform: 'node',
  target: 'node20.20',
  format: 'esm',
  sourcemap: 'linked',
  // The text of a bundle stays in memory: without comments it is half as long, and ASCII, one byte a character.
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'none',
  logLevel: 'warning',
  // CommonJS packages inside an ESM bundle look for `require`.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  // Its CommonJS form loads its own parts in a way that no bundler sees.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  external: ['@lydell/node-pty', '@photostructure/sqlite', 'node:sqlite', 'onnxruntime-node', 'pg-native'],
};

/** How each binary is bundled; what is native stays outside. */
export const bundles = {
  hub: {
    ...common,
    entryPoints: { parley: 'packages/hub/src/main.ts' },
    // A command loads what it needs and no more.
    splitting: true,
    chunkNames: 'part-[hash]',
    outdir: 'packages/hub/dist',
  },
  // `parley run` stays beside a program all day: on its own it holds what that takes and no more. What it loads later
  // is named from outside, for a file that two entries share would be loaded with the first.
  run: {
    ...common,
    entryPoints: { 'parley-run': 'packages/hub/src/main-run.ts' },
    alias: { ...common.alias, '@parley/protocol/terminal': './terminal-schemas.js' },
    external: [...common.external, './terminal-schemas.js', '@agentclientprotocol/sdk'],
    splitting: true,
    chunkNames: 'run-[hash]',
    outdir: 'packages/hub/dist',
  },
  // On their own: the threads share nothing with the hub, and stay small.
  threads: {
    ...common,
    entryPoints: {
      'model-process': 'packages/search/src/model-process.ts',
      'search-thread': 'packages/search/src/search-thread.ts',
      'sqlite-thread': 'packages/store-sqlite/src/sqlite-thread.ts',
      'terminal-schemas': 'packages/protocol/src/terminal.ts',
    },
    outdir: 'packages/hub/dist',
  },
  'codex-proxy': {
    ...common,
    entryPoints: { 'atm-agent-mcp': 'packages/codex-proxy/src/main.ts' },
    // What only a link to the hub needs is loaded with the first link.
    splitting: true,
    chunkNames: 'part-[hash]',
    outdir: 'packages/codex-proxy/dist',
  },
  dashboard: {
    // A page loads what it needs of the protocol and no more.
    plugins: [directImports()],
    bundle: true,
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16'],
    format: 'esm',
    splitting: true,
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    entryPoints: {
      main: 'packages/dashboard/src/main.tsx',
      style: 'packages/dashboard/src/styles/index.css',
      later: 'packages/dashboard/src/styles/later.css',
    },
    outdir: 'packages/hub/dist/dashboard',
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The one library that is written for React runs on Preact.
    alias: {
      react: 'preact/compat',
      'react-dom': 'preact/compat',
      'react/jsx-runtime': 'preact/jsx-runtime',
    },
  },
};
