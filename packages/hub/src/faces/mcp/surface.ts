import type { McpRequestContext, Server, ServerEvent } from '@modelcontextprotocol/server';
import type { Claims } from '@parley/protocol';

import type { Connection } from './connection.ts';
import type { ListenMessage } from './listen.ts';

/** What a listen stream gives to whoever feeds it. */
interface ListenFeed {
  claims: Claims;
  request_id: string;
  /** Ends with the stream. */
  signal: AbortSignal;
  /** Resolves when the event could be written. */
  publish: (event: ServerEvent) => Promise<void>;
  /** Ends the stream, so that the client begins anew. */
  end: () => void;
}

/** What is served at `/mcp`. */
export interface Surface {
  /** A fresh server for one request or one session. */
  server(connection: Pick<Connection, 'pushable'>, era: McpRequestContext['era']): Server;
  /** Feeds a listen stream until its signal ends; returns the request narrowed to what the caller may hear. */
  listen(message: ListenMessage, feed: ListenFeed): Promise<ListenMessage>;
}
