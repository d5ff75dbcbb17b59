import type { CallContext } from '@parley/core';

import type { Exchange } from './exchange.ts';

/** The context of a call that ends when its client goes away; the signal is made only when a call asks for it. */
export function requestContext({ request_id, response }: Exchange): CallContext {
  let controller: AbortController | undefined;
  return {
    request_id,
    get signal() {
      if (controller === undefined) {
        const made = new AbortController();
        controller = made;
        response.once('close', () => made.abort());
        if (response.destroyed) made.abort();
      }
      return controller.signal;
    },
  };
}
