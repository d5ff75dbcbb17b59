import { defineConfig } from 'vitest/config';
import { createProofReporter } from './specs/proof-reporter.ts';

const CROWDS = ['tests/ws/{load,restart}.test.ts'];

export default defineConfig({
  test: {
    reporters: ['default', createProofReporter({ full: process.env['FULL_TEST_RUN'] === 'yes' })],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'specs/**/*.test.ts'],
          // They keep to themselves, so that a worker need not load everything anew for each file.
          isolate: false,
          maxWorkers: 2,
          // A busy machine may be ten times slower than a free one.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // These start real processes, which two cores carry only a few at a time; most of them wait most of the time.
        test: {
          name: 'system',
          include: ['tests/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...CROWDS],
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Thousands of clients need the machine for themselves.
        test: {
          name: 'crowd',
          include: CROWDS,
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
