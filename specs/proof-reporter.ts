import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { cacheFolder, writeRun, type TestResult } from './test-results.ts';

const stateOf = { passed: 'pass', failed: 'fail', skipped: 'skip', pending: 'skip' } as const;

/** Records every test of a run; only a run that is full and reached its end counts as proof. */
export function createProofReporter(options: { full: boolean; folder?: string }): Reporter {
  let root = process.cwd();
  return {
    onInit(vitest) {
      root = vitest.config.root;
    },
    onTestRunEnd(modules, unhandled, reason) {
      const kind = options.full && reason !== 'interrupted' ? 'full' : 'partial';
      const tests = modules.flatMap((module) => resultsOf(module, relative(root, module.moduleId)));
      const stray = unhandled.map((error) => failure(`unhandled: ${error.message}`, ''));
      const run = { endedAt: new Date().toISOString(), tests: [...tests, ...stray] };
      writeRun(run, kind, options.folder ?? cacheFolder);
    },
  };
}

function resultsOf(module: TestModule, file: string): TestResult[] {
  const results = [...module.children.allTests()].map((test) => resultOf(test, file));
  // What breaks outside a test, while loading or in a hook, has no test of its own to fail.
  const broken = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
  const failures = broken.map((suite) => failure(`${suite.fullName} > set-up and tear-down`, file));
  if (module.errors().length > 0) failures.push(failure('the file loads and its hooks pass', file));
  return [...results, ...failures];
}

function resultOf(test: TestCase, file: string): TestResult {
  const duration = Math.round(test.diagnostic()?.duration ?? 0);
  return { name: test.fullName, file, state: stateOf[test.result().state], duration };
}

function failure(name: string, file: string): TestResult {
  return { name, file, state: 'fail', duration: 0 };
}
