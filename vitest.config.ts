import { defineConfig } from 'vitest/config';
import { createProofReporter } from './specs/proof-reporter.ts';

export default defineConfig({
  test: {
    reporters: ['default', createProofReporter({ full: process.env['FULL_TEST_RUN'] === 'yes' })],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'specs/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // These start real processes, which two cores carry only a few at a time.
        test: {
          name: 'system',
          include: ['tests/**/*.test.ts'],
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
