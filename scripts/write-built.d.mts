import type { BuildResult } from 'esbuild';

/** The bytes of a build by their path inside `outdir`. */
export function builtFiles(outdir: string, built: BuildResult<{ write: false }>): Map<string, Buffer>;

/** Writes what differs, new files first, each whole or not at all; then removes what no build has any more, save what is kept. */
export function writeBuilt(
  outdir: string,
  files: ReadonlyMap<string, Buffer>,
  kept?: (name: string) => boolean,
): void;

/** The paths of all files below a folder, inside it. */
export function namesIn(folder: string): string[];
