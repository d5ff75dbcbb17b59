import { readFileSync } from 'node:fs';

/** The test files that stay on the embedded store, each with the reason. */
export function readSingle(): Record<string, string> {
  const path = new URL('single-node.json', import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
}
