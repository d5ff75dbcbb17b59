import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { keptThread } from './specs/mutation/kept-thread.ts';

/** The quick tests come first: one that fails ends the run, and most mutants die in milliseconds. */
class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): number =>
      Number(/\.property\.test\.ts$|-contract\.ts$|delivery-queue\.test\.ts$/.test(moduleId));
    return files.toSorted((a, b) => isSlow(a) - isSlow(b));
  }
}

/** How the tests run on a mutant (`npm run mutate`): those of its group alone, each bundled with what it imports. */
export default defineConfig({
  plugins: [
    {
      name: 'kept thread',
      configureVitest({ project }) {
        // Stryker's own settings name another pool.
        Object.assign(project.config, { pool: keptThread.name, poolRunner: keptThread });
      },
    },
  ],
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') as string[],
    setupFiles: ['./specs/mutation/forget-mutant.ts'],
    sequence: { sequencer: QuickFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
  },
});
