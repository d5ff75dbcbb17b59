import type { Store } from '@parley/core';

import { sendJson } from '../exchange.ts';
import type { Face } from '../server.ts';

/** Says whether the hub can take writes, and nothing else; needs no token. */
export function createHealthFace(store: Store): Face {
  return {
    claims: (path) => path === '/healthz' || path === '/health',
    async handle(exchange) {
      const { writable } = store.health();
      sendJson(exchange, writable ? 200 : 503, writable ? '{"ok":true}' : '{"ok":false}');
    },
  };
}
