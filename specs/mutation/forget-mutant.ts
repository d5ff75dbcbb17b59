import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    globalNamespace: string;
  }
}

// While a test file is loaded no mutant is in force: the thread may still have that of the run before.
const stryker = Reflect.get(globalThis, inject('globalNamespace')) as { activeMutant?: string } | undefined;
if (stryker !== undefined) delete stryker.activeMutant;
