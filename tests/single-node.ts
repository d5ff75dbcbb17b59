import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** What does not run on three nodes over PostgreSQL and NATS, by file or by `file > name of the test`, each with the reason. */
export interface Single {
  /** Not there at all: it is about the embedded store, or about what no node changes. */
  embedded: Record<string, string>;
  /** There, with one node. */
  oneNode: Record<string, string>;
}

/** Reads the list. */
export function readSingle(): Single {
  const path = new URL('single-node.json', import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8')) as Single;
}

let oneNode: Record<string, string> | undefined;

/** True for a test file whose hubs have one node, and for a test that starts such a one. */
export function isSingle(file: string, test: string): boolean {
  oneNode ??= readSingle().oneNode;
  const place = relative('', file);
  const name = test.split(' > ').at(-1) ?? '';
  return place in oneNode || `${place} > ${name}` in oneNode;
}
