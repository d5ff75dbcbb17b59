import type { Plugin } from 'esbuild';

/** Where a package has a name that its index exports. */
export interface Source {
  module: string;
  original: string;
}

/** The same text with its imports from packages made direct; every line stays where it is. */
export function importDirectly(text: string, sources: Map<string, Map<string, Source>>): string;
/** An esbuild plugin that does the same to every file of a bundle. */
export function directImports(folder?: string, besides?: ReadonlyMap<string, readonly string[]>): Plugin;
