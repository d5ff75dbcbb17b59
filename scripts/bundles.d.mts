import type { BuildOptions } from 'esbuild';

/** How each binary and the web app are bundled. */
export const bundles: Record<'hub' | 'codex-proxy' | 'dashboard', BuildOptions>;
