import type { BuildOptions } from 'esbuild';

/** The same bundle in fewer parts. */
export function inFewerParts(bundle: BuildOptions): Promise<BuildOptions>;
