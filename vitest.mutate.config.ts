import { defineConfig } from 'vitest/config';

/** How the tests run on a mutant (`npm run mutate`): those of its group alone, and imports between packages stay in the mutated copy. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@parley\/core\/store-contract$/, replacement: inCopy('core/src/store-contract.ts') },
      { find: /^@parley\/core\/asks-contract$/, replacement: inCopy('core/src/asks/asks-contract.ts') },
      { find: /^@parley\/core\/rules$/, replacement: inCopy('core/src/rules-entry.ts') },
      { find: /^@parley\/([a-z-]+)$/, replacement: inCopy('$1/src/index.ts') },
    ],
  },
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') as string[],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
  },
});

function inCopy(path: string): string {
  return `${process.cwd()}/packages/${path}`;
}
