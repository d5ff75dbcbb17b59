import type { BuildOptions } from 'esbuild';

/** How each binary, the threads and the web app are bundled. */
export const bundles: Record<'hub' | 'codex-proxy' | 'dashboard', BuildOptions> & {
  threads: BuildOptions & { entryPoints: Record<'search-thread' | 'sqlite-thread', string> };
};
