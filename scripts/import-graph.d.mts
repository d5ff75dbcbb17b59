/** What each source file imports, types included, by its path from the root of the repository. */
export function importGraph(): Map<string, string[]>;
/** Groups of files that can be reached from each other. */
export function knotsOf(graph: ReadonlyMap<string, readonly string[]>): string[][];
/** The files of the longest chain of imports. */
export function longestChain(graph: ReadonlyMap<string, readonly string[]>): string[];
