import type { CallContext } from '@parley/core';
import { readTrace, type Trace } from '@parley/protocol';

import type { Exchange } from './exchange.ts';

/**
 * The context of a call that ends when its client goes away; the signal is made only when a call asks for it.
 * Who gives `waiting` can end all that wait, as at shutdown.
 */
export function requestContext(exchange: Exchange, waiting?: Set<AbortController>): CallContext {
  return new RequestContext(exchange, waiting);
}

/**
 * A class: a getter made per request would give each context a hidden class that outlives it. Its fields are plain:
 * private names are slow to set, and every request makes one.
 */
class RequestContext implements CallContext {
  readonly request_id: string;
  readonly trace: Trace | undefined;
  private readonly response: Exchange['response'];
  private readonly waiting: Set<AbortController> | undefined;
  private controller: AbortController | undefined;

  constructor({ request_id, request, response }: Exchange, waiting: Set<AbortController> | undefined) {
    const { traceparent, tracestate } = request.headers;
    this.request_id = request_id;
    this.trace = traceparent === undefined ? undefined : readTrace(traceparent, tracestate);
    this.response = response;
    this.waiting = waiting;
    this.controller = undefined;
  }

  get signal(): AbortSignal {
    this.controller ??= this.watch(new AbortController());
    return this.controller.signal;
  }

  private watch(controller: AbortController): AbortController {
    this.waiting?.add(controller);
    this.response.once('close', () => {
      this.waiting?.delete(controller);
      controller.abort();
    });
    if (this.response.destroyed) controller.abort();
    return controller;
  }
}
