import { defineConfig } from 'vitest/config';

import { LongestFirst } from './specs/longest-first.ts';
import { createProofReporter } from './specs/proof-reporter.ts';
import { readSingle } from './tests/single-node.ts';

const CROWDS = ['tests/ws/{load,restart}.test.ts'];

/** On the profile of several nodes every hub of the tests is three nodes over PostgreSQL and NATS; what cannot be is named with its reason. */
const onPostgres = process.env['PARLEY_TEST_STORE'] === 'postgres';
const single = onPostgres ? Object.keys(readSingle().embedded).filter((name) => !name.includes(' > ')) : [];
// Three processes start where else one does.
const patienceMs = onPostgres ? 120_000 : 60_000;

/** What all tests share but the crowds: one queue for four workers: more of them starve the real programs that some tests time. */
const together = {
  // Files keep to themselves, so that a worker need not load everything anew for each.
  isolate: false,
  maxWorkers: 4,
  // A busy machine may be ten times slower than a free one.
  testTimeout: patienceMs,
  hookTimeout: patienceMs,
  expect: { poll: { timeout: 20_000, interval: 100 } },
  sequence: { groupOrder: 0 },
};

export default defineConfig({
  test: {
    globalSetup: [
      'tests/harness/file-costs.ts',
      'tests/harness/bundle-threads.ts',
      'tests/harness/scale-profile.ts',
    ],
    reporters: ['default', createProofReporter({ full: process.env['FULL_TEST_RUN'] === 'yes' })],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // These start real processes.
        test: {
          ...together,
          name: 'system',
          include: ['tests/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...CROWDS, ...single],
          setupFiles: ['tests/harness/cost.ts', 'tests/harness/every-file.ts'],
        },
      },
      {
        test: {
          ...together,
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'specs/**/*.test.ts'],
          setupFiles: ['tests/harness/cost.ts'],
        },
      },
      {
        // Thousands of clients need the machine for themselves.
        test: {
          name: 'crowd',
          include: CROWDS,
          exclude: single,
          setupFiles: ['tests/harness/cost.ts', 'tests/harness/every-file.ts'],
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 20_000, interval: 100 } },
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
