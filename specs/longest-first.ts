import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The test files that take longest, the longest first, as paths from the root. */
export const LONG_FILES = JSON.parse(
  readFileSync(new URL('long-files.json', import.meta.url), 'utf8'),
) as readonly string[];

/** Projects that run at the same time, in the order in which their files begin. */
const PROJECTS = ['system', 'unit', 'crowd'];

/** As much of a test file as its place in the run depends on. */
export interface Placed {
  /** Groups run one after the other. */
  group: number;
  project: string;
  path: string;
}

/**
 * Files of one project follow each other, since a worker goes on only with a file of its own project. In each the
 * longest begin, and the short ones fill what is left at the end.
 */
export function comparePlaces(a: Placed, b: Placed, long = LONG_FILES): number {
  const byProject = PROJECTS.indexOf(a.project) - PROJECTS.indexOf(b.project);
  return a.group - b.group || byProject || rank(a.path, long) - rank(b.path, long);
}

function rank(path: string, long: readonly string[]): number {
  const place = long.indexOf(path);
  return place === -1 ? long.length : place;
}

/** Starts the test files in an order that keeps every core busy to the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placed = files.map((file) => ({
      file,
      group: file.project.config.sequence.groupOrder,
      project: file.project.name,
      path: relative(this.ctx.config.root, file.moduleId),
    }));
    return placed.toSorted((a, b) => comparePlaces(a, b)).map(({ file }) => file);
  }
}
