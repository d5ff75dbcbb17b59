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

/** A push as it comes, in the declarative form: a browser that knows it shows it without this worker. */
interface Pushed {
  notification?: {
    title: string;
    body?: string;
    tag?: string;
    navigate?: string;
    data?: { path?: string; kind?: string; urgency?: string; ask_id?: string };
  };
  app_badge?: number;
}

self.addEventListener('push', (event) => {
  // The hub sends nothing else.
  event.waitUntil(show(event.data?.json() as Pushed | undefined));
});

async function show(pushed: Pushed | undefined): Promise<void> {
  const { title, body = '', tag = 'parley', data = {} } = pushed?.notification ?? { title: 'Parley' };
  await self.registration.showNotification(title, {
    body,
    tag,
    data,
    icon: '/icon-192.png',
    badge: '/icon-192.png',
    // A newer word in the place of an older one is heard again.
    ...({ renotify: true } as object),
  });
  // After the words, which must not wait for it.
  if (pushed?.app_badge !== undefined && 'setAppBadge' in navigator)
    await navigator.setAppBadge(pushed.app_badge).catch(() => {});
}

// A tap leads to the very thing: in the window that is open, or in a new one.
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  // It is what was put there when it was shown.
  const { path = '/now' } = (event.notification.data ?? {}) as { path?: string };
  event.waitUntil(lead(path.startsWith('/') ? path : '/now'));
});

async function lead(path: string): Promise<void> {
  const [open] = await self.clients.matchAll({ type: 'window', includeUncontrolled: false });
  if (open === undefined) await self.clients.openWindow(path);
  else {
    await open.focus().catch(() => open);
    open.postMessage({ go: path });
  }
}

async function kept(path: string, request?: Request): Promise<Response> {
  const cache = await caches.open(STORE);
  const found = await cache.match(path);
  return found ?? (request === undefined ? Response.error() : fetch(request));
}
