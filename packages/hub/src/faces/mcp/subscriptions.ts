import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';

import { callContext, type Connection, noSuchResource, protocolError } from './connection.ts';
import { threadOfUri } from './thread-uri.ts';
import { MAX_WATCHED, watchThread } from './watch-thread.ts';

/** `resources/subscribe` of the older revisions: the connection hears of each growth of a thread it may read. */
export function addSubscriptions(server: Server, connection: Connection): void {
  const watchByUri = new Map<string, AbortController>();

  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, ctx) => {
    const threadId = threadOfUri(uri);
    if (threadId === undefined) throw noSuchResource(uri);
    if (watchByUri.has(uri)) return {};
    if (watchByUri.size >= MAX_WATCHED)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `at most ${MAX_WATCHED} subscriptions`);
    const ending = new AbortController();
    const { signal } = ending;
    watchByUri.set(uri, ending);
    try {
      await watchThread({
        hub: connection.hub(ctx),
        threadId,
        context: callContext(connection, ctx),
        signal,
        async onGrowth() {
          await connection.pushable(signal);
          if (!signal.aborted) await server.sendResourceUpdated({ uri });
        },
        onEnd() {
          if (watchByUri.get(uri) === ending) watchByUri.delete(uri);
        },
      });
    } catch (error) {
      watchByUri.delete(uri);
      throw protocolError(error, connection.requestId(ctx), uri);
    }
    return {};
  });

  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watchByUri.get(uri)?.abort();
    watchByUri.delete(uri);
    return {};
  });

  server.onclose = () => {
    for (const ending of watchByUri.values()) ending.abort();
    watchByUri.clear();
  };
}
