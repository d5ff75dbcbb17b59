import { once } from 'node:events';

import { type AuthInfo, createMcpHandler, InMemoryServerEventBus } from '@modelcontextprotocol/server';

import type { Exchange } from '../../exchange.ts';
import { isListen, type ListenMessage } from './listen.ts';
import type { RequestAuth } from './request-auth.ts';
import { tokenEnded } from './rpc-error.ts';
import type { Surface } from './surface.ts';
import { sendWebResponse } from './web-bridge.ts';

/** One decoded request on its way to the SDK. */
export interface McpRequest {
  exchange: Exchange;
  web: Request;
  body: unknown;
  auth: RequestAuth;
  authInfo: AuthInfo;
  /** Ends when the client goes away or its token ceases to be good. */
  ending: AbortController;
}

/** The revision without sessions: each request stands alone, push is one listen stream. */
export function createModern(surface: Surface, onerror: (error: Error) => void) {
  const calls = createMcpHandler(({ era }) => surface.server({ pushable: never }, era), {
    legacy: 'reject',
    onerror,
  });

  /** A handler and a bus for this one stream: nobody else's events can reach it. */
  async function listen(request: McpRequest, message: ListenMessage): Promise<void> {
    const { exchange, web, auth, authInfo, ending } = request;
    const { signal } = ending;
    const bus = new InMemoryServerEventBus(onerror);
    const handler = createMcpHandler(({ era }) => surface.server({ pushable: never }, era), {
      legacy: 'reject',
      bus,
      onerror,
    });
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    try {
      const narrowed = await surface.listen(message, {
        ...auth,
        signal,
        end: () => ending.abort(),
        async publish(event) {
          await opened;
          if (exchange.response.writableNeedDrain) await once(exchange.response, 'drain', { signal });
          bus.publish(event);
        },
      });
      const answer = await handler.fetch(web, { authInfo, parsedBody: narrowed });
      open();
      await sendWebResponse(exchange, answer, signal);
    } finally {
      ending.abort();
      await handler.close();
    }
  }

  return {
    async answer(request: McpRequest): Promise<void> {
      if (isListen(request.body)) return listen(request, request.body);
      const { exchange, web, body, authInfo, ending } = request;
      const answer = await calls.fetch(web, { authInfo, parsedBody: body });
      if (ending.signal.aborted && !exchange.response.destroyed) throw tokenEnded();
      await sendWebResponse(exchange, answer, ending.signal);
    },
  };
}

/** A server that lives for one request has nothing to push on. */
function never(): Promise<void> {
  return new Promise(() => {});
}
