import type { CallContext } from '@parley/core';

import type { Exchange } from './exchange.ts';

/**
 * The context of a call that ends when its client goes away; the signal is made only when a call asks for it.
 * Who gives `waiting` can end all that wait, as at shutdown.
 */
export function requestContext(
  { request_id, response }: Exchange,
  waiting?: Set<AbortController>,
): CallContext {
  let controller: AbortController | undefined;
  return {
    request_id,
    get signal() {
      if (controller === undefined) {
        const made = new AbortController();
        controller = made;
        waiting?.add(made);
        response.once('close', () => {
          waiting?.delete(made);
          made.abort();
        });
        if (response.destroyed) made.abort();
      }
      return controller.signal;
    },
  };
}
