/** What the last runs found, kept under `.cache/` so that clauses can be told proved or not. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const testResult = z.object({
  name: z.string().describe('the full name: suites and test joined by " > "'),
  file: z.string(),
  state: z.enum(['pass', 'fail', 'skip']),
  duration: z.number().optional().describe('milliseconds'),
});

const testRun = z.object({ endedAt: z.iso.datetime(), tests: z.array(testResult) });

export type TestResult = z.infer<typeof testResult>;
export type TestRun = z.infer<typeof testRun>;

/** Where runs are kept: a full run in one file, any other run apart, so that it erases no proof. */
export const cacheFolder = fileURLToPath(new URL('../.cache/', import.meta.url));
const runFile = { full: 'test-results.json', partial: 'test-results.partial.json' };

/** Keeps a run, whole or not at all. */
export function writeRun(run: TestRun, kind: keyof typeof runFile, folder = cacheFolder): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, runFile[kind]);
  writeFileSync(`${path}.new`, `${JSON.stringify(run, null, 1)}\n`);
  renameSync(`${path}.new`, path);
}

/** The last full run, if there was one. */
export function readFullRun(folder = cacheFolder): TestRun | undefined {
  const text = readIfThere(join(folder, runFile.full));
  return text === undefined ? undefined : testRun.parse(JSON.parse(text));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
