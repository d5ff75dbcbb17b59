import type { Bus, Store } from '@parley/core';

import { sendJson } from '../exchange.ts';
import type { Face } from '../server.ts';

/**
 * Says whether the hub can take writes, and what it does without meanwhile; needs no token. A load balancer asks at
 * /readyz: a node that does not hear the others stays ready, for its look at the log makes up for them.
 */
export function createHealthFace(store: Store, bus: Bus | undefined): Face {
  return {
    claims: (path) => path === '/readyz' || path === '/healthz' || path === '/health',
    async handle(exchange) {
      const ok = store.health().writable;
      const degraded = bus === undefined || bus.health().connected ? {} : { degraded: ['bus'] };
      sendJson(exchange, ok ? 200 : 503, JSON.stringify({ ok, ...degraded }));
    },
  };
}
