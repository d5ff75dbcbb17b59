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

/** True for a test file whose hubs have one node. */
export function isSingle(file: string): boolean {
  oneNode ??= readSingle().oneNode;
  return relative('', file) in oneNode;
}
