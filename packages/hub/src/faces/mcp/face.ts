import { type Claims, ParleyError } from '@parley/protocol';

import type { StreamOptions } from '../../event-stream.ts';
import { type BodyLimits, type Exchange, HttpRefusal, readJsonBody } from '../../exchange.ts';
import type { Face } from '../../server.ts';
import type { Tunnel } from '../../nodes/tunnel.ts';
import type { SessionLimits } from './legacy-sessions.ts';
import { isListen } from './listen.ts';
import { createOpenExchanges } from './open-exchanges.ts';
import { toAuthInfo } from './request-auth.ts';
import type { Revisions } from './revisions.ts';
import { nodeOfSession } from './session-id.ts';
import { parseError, RpcRefusal, sendRpcError } from './rpc-error.ts';
import type { Surface } from './surface.ts';
import { toWebRequest } from './web-bridge.ts';

export interface McpOptions {
  surface: () => Surface | Promise<Surface>;
  authenticate: (request: Exchange['request']) => Claims | Promise<Claims>;
  /** What a refused client is told of the way to a token, where there is one besides being given it. */
  challenge?: (() => string) | undefined;
  limits: BodyLimits;
  sessions: SessionLimits;
  streams: StreamOptions;
  /** The name of this node and the way to the others, where there are any: a session is answered where it began. */
  nodes?: { own: string; tunnel: Tunnel } | undefined;
  now: () => number;
  /** Hears what goes wrong inside the protocol layer; never alters an answer. */
  onFault: (error: Error) => void;
}

/** MCP over Streamable HTTP at `/mcp`, the newest revision and the older ones side by side. */
export function createMcpFace(options: McpOptions): Face {
  const { surface, authenticate, limits, streams, nodes, onFault } = options;
  /** The protocol is half of the hub's code: it is loaded for the first who speaks it and may. */
  let revisions: Promise<Revisions> | undefined;
  async function loadRevisions(): Promise<Revisions> {
    const { createRevisions } = await import('./revisions.ts');
    return createRevisions(await surface(), { ...options.sessions, node: nodes?.own }, options.now, onFault);
  }
  const loaded = (): Promise<Revisions> => {
    revisions ??= loadRevisions().catch((error: unknown) => {
      // The next one tries again.
      revisions = undefined;
      throw error;
    });
    return revisions;
  };
  const exchanges = createOpenExchanges(streams.recheck, streams.recheckMs);

  return {
    claims: (path) => path === '/mcp',
    refuse: (exchange, error) => sendRpcError(exchange, error, options.challenge?.()),
    async handle(exchange) {
      const { request, response, request_id } = exchange;
      const known = authenticate(request);
      const claims = known instanceof Promise ? await known : known;
      const node = nodeOfSession(request.headers['mcp-session-id']);
      if (nodes !== undefined && node !== undefined && node !== nodes.own)
        return nodes.tunnel.carry(exchange, node, limits.bytes);
      const body = request.method === 'POST' ? await readMessage(exchange, limits) : undefined;
      const ending = new AbortController();
      response.once('close', () => {
        if (!response.writableFinished) ending.abort();
      });
      const lasting = request.method === 'GET' || isListen(body);
      const release = lasting ? streams.hold(claims) : undefined;
      const leave = exchanges.enter({ claims, ending, lasting });
      try {
        const web = toWebRequest(exchange, ending.signal);
        const auth = { claims, request_id };
        const call = { exchange, web, body, auth, authInfo: toAuthInfo(auth), ending };
        await (await loaded()).answer(call);
      } finally {
        leave();
        release?.();
      }
    },
    async close() {
      exchanges.close();
      await (await revisions?.catch(() => undefined))?.close();
    },
  };
}

/** One JSON-RPC message, decoded as strictly as everything that reaches the log. */
async function readMessage(exchange: Exchange, limits: BodyLimits): Promise<unknown> {
  let body: unknown;
  try {
    body = await readJsonBody(exchange, limits);
  } catch (error) {
    if (error instanceof ParleyError && !(error instanceof HttpRefusal)) throw parseError(error);
    throw error;
  }
  if (Array.isArray(body)) throw new RpcRefusal(400, -32_600, 'VALIDATION_ERROR', 'batches are not accepted');
  return body;
}
