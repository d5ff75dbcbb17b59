/// <reference lib="webworker" />

/** The files of this build, put in by the build itself; a new build is a new worker with a new store. */
declare const SHELL: readonly string[];
declare const BUILD: string;
declare const self: ServiceWorkerGlobalScope;

const STORE = `parley-${BUILD}`;

self.addEventListener('install', (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(STORE);
      await cache.addAll([...SHELL]);
      await self.skipWaiting();
    })(),
  );
});

self.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name !== STORE) await caches.delete(name);
      await self.clients.claim();
    })(),
  );
});

// Only the app's own files are ever kept. What the hub says is always asked of the hub.
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return;
  if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => kept('/')));
  else if (SHELL.includes(url.pathname)) event.respondWith(kept(url.pathname, request));
});

async function kept(path: string, request?: Request): Promise<Response> {
  const cache = await caches.open(STORE);
  const found = await cache.match(path);
  return found ?? (request === undefined ? Response.error() : fetch(request));
}
