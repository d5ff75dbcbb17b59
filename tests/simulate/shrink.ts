import type { Step } from './script.ts';

/**
 * The shortest history found that still fails: leaves out halves, quarters and so on, as long as it fails without
 * them (ddmin), in at most so many tries.
 */
export async function shrink(
  script: readonly Step[],
  fails: (some: readonly Step[]) => Promise<boolean>,
  mostTries = 300,
): Promise<readonly Step[]> {
  let shortest = script;
  let tries = 0;
  for (let parts = 2; shortest.length > 1 && tries < mostTries;) {
    const size = Math.ceil(shortest.length / parts);
    let isShorter = false;
    for (let from = 0; from < shortest.length && tries < mostTries;) {
      const rest = shortest.toSpliced(from, size);
      tries += 1;
      if (await fails(rest)) {
        shortest = rest;
        isShorter = true;
      } else from += size;
    }
    if (size === 1 && !isShorter) break;
    parts = isShorter ? Math.max(2, Math.min(parts, shortest.length)) : Math.min(parts * 2, shortest.length);
  }
  return shortest;
}
