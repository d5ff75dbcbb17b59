import type { Hub, Log, Offers } from '@parley/core';
import { isLegacyRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { type Claims, ParleyError } from '@parley/protocol';

import type { StreamOptions } from '../../event-stream.ts';
import { type BodyLimits, type Exchange, HttpRefusal, readJsonBody } from '../../exchange.ts';
import type { Face } from '../../server.ts';
import { createHubSurface } from './hub-surface.ts';
import { createLegacySessions, type SessionLimits } from './legacy-sessions.ts';
import { isListen } from './listen.ts';
import { createModern } from './modern.ts';
import { createOpenExchanges } from './open-exchanges.ts';
import { toAuthInfo } from './request-auth.ts';
import { parseError, RpcRefusal, sendRpcError } from './rpc-error.ts';
import type { Surface } from './surface.ts';
import type { Profile } from './tools.ts';
import { toWebRequest } from './web-bridge.ts';

export interface McpOptions {
  hub: Hub;
  log: Log;
  offers: Offers;
  authenticate: (request: Exchange['request']) => Claims | Promise<Claims>;
  limits: BodyLimits;
  version: string;
  profile: Profile;
  /** Serves the fixtures of the conformance suite instead of the hub. */
  conformance: boolean;
  sessions: SessionLimits;
  streams: StreamOptions;
  now: () => number;
  /** Hears what goes wrong inside the protocol layer; never alters an answer. */
  onFault: (error: Error) => void;
}

/** MCP over Streamable HTTP at `/mcp`, the newest revision and the older ones side by side. */
export async function openMcpFace(options: McpOptions): Promise<Face> {
  const { authenticate, limits, streams, onFault } = options;
  const surface = await chooseSurface(options);
  const modern = createModern(surface, onFault);
  const legacy = createLegacySessions(surface, options.sessions, options.now, onFault);
  const exchanges = createOpenExchanges(streams.recheck, streams.recheckMs);

  return {
    claims: (path) => path === '/mcp',
    refuse: sendRpcError,
    async handle(exchange) {
      const { request, response, request_id } = exchange;
      const known = authenticate(request);
      const claims = known instanceof Promise ? await known : known;
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
        const isModern = claimsRevision(body) || !(await isLegacyRequest(web, body));
        await (isModern ? modern : legacy).answer(call);
      } finally {
        leave();
        release?.();
      }
    },
    async close() {
      exchanges.close();
      await legacy.close();
    },
  };
}

async function chooseSurface(options: McpOptions): Promise<Surface> {
  if (!options.conformance) return createHubSurface(options);
  const { createConformanceSurface } = await import('./conformance/surface.ts');
  return createConformanceSurface(options);
}

/** True for what only the newest revision sends: it needs no second look at the whole message to be told apart. */
function claimsRevision(body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { _meta?: unknown } };
  const { _meta: meta } = params ?? {};
  return (
    method !== 'initialize' &&
    meta !== null &&
    typeof meta === 'object' &&
    Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY)
  );
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
