import { go } from './router.ts';

interface ScriptPolicy {
  createScriptURL(url: string): string;
}

interface PolicyMaker {
  createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy;
}

/** Installs the worker that shows the app without a connection; only secure pages may have one. */
export function installWorker(): void {
  if (!('serviceWorker' in navigator) || !isSecureContext) return;
  // The types of the browser lack it.
  const { trustedTypes } = globalThis as { trustedTypes?: PolicyMaker };
  const policy = trustedTypes?.createPolicy('parley', { createScriptURL: (url) => url });
  const path = '/sw.js';
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ go?: unknown }>) => {
    if (typeof data.go === 'string' && data.go.startsWith('/')) go(data.go);
  });
  navigator.serviceWorker.register(policy?.createScriptURL(path) ?? path).catch(() => {});
}
