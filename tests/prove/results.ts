import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Something that was measured, in words. */
export interface Figure {
  what: string;
  figure: string;
}

/** What became of one long form when it ran last. */
export interface Result {
  id: string;
  held: boolean;
  /** When it ended. */
  at: string;
  minutes: number;
  /** The state of the code on which it ran. */
  code: string;
  machine: string;
  figures: readonly Figure[];
}

/** The last result of each long form; it is committed, so that a run of all may be spread over days and machines. */
export function readResults(path: string): Map<string, Result> {
  const results = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Result[]) : [];
  return new Map(results.map((result) => [result.id, result]));
}

/** Writes the results in the order of what there is; what is no longer there is dropped. */
export function writeResults(
  path: string,
  ids: readonly string[],
  results: ReadonlyMap<string, Result>,
): void {
  const kept = ids.flatMap((id) => results.get(id) ?? []);
  writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`);
}

/** What says most when it runs next: what never ran, then what did not hold, then what ran longest ago. */
export function mostTelling(ids: readonly string[], results: ReadonlyMap<string, Result>): string[] {
  const rank = (id: string): string => {
    const result = results.get(id);
    return result === undefined ? '0' : result.held ? `2 ${result.at}` : '1';
  };
  const ranks = new Map(ids.map((id) => [id, rank(id)]));
  return ids.toSorted((a, b) => (ranks.get(a) ?? '').localeCompare(ranks.get(b) ?? ''));
}
