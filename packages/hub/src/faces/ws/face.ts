import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';

import type { CallContext, Clock, Hub, Live, NodeCalls, Quota } from '@parley/core';
import type { Claims } from '@parley/protocol';
import { type WebSocket, WebSocketServer } from 'ws';

import type { Deprecations } from '../../deprecations.ts';
import type { TokenCheck } from '../../auth/authenticate.ts';
import type { StreamOptions } from '../../event-stream.ts';
import { type BodyLimits, type Exchange, HttpRefusal, sendJson } from '../../exchange.ts';
import type { Tunnel } from '../../nodes/tunnel.ts';
import type { Face } from '../../server.ts';
import { createDescription } from '../../send-description.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { CLOSE } from './close-codes.ts';
import { createFallback } from './fallback.ts';
import { checkHandshake, type Credentials, identify, SUBPROTOCOL } from './handshake.ts';
import { createOutgoing } from './outgoing.ts';
import { createOwnCommands } from './own-commands.ts';
import { createPulse } from './pulse.ts';
import { createRouter } from './router.ts';
import { SocketLink, type SocketContext } from './socket-link.ts';
import { type StatedLimits, statedLimits } from './stated-limits.ts';
import { createTickets, type TicketNodes } from './tickets.ts';

interface LiveSettings extends StatedLimits {
  fragments: number;
  ping_ms: number;
  client_pings: number;
  send_buffer_bytes: number;
  stuck_ms: number;
  ticket_ms: number;
  mailbox_messages: number;
  mailbox_idle_ms: number;
}

export interface LiveFaceOptions {
  hub: Pick<Hub, 'call'>;
  deprecations: Deprecations;
  /** The name of this node and the ways to the others, where there are any. */
  nodes?: (TicketNodes & { tunnel: Tunnel; calls: Pick<NodeCalls, 'askAll'> }) | undefined;
  live: Live;
  /** The context of a call made for a message. */
  context: (signal: AbortSignal) => CallContext;
  authenticate: (request: Exchange['request']) => Claims | Promise<Claims>;
  tokens: TokenCheck;
  device: Credentials['device'];
  limits: BodyLimits;
  quota: Quota;
  /** What an agent may send once it has registered on its connection. */
  agentQuota: Quota;
  settings: LiveSettings;
  streams: StreamOptions;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  version: string;
  /** The hub speaks TLS. */
  isSecure: boolean;
  /** How long running commands may take to finish when the hub stops. */
  patienceMs: number;
}

/** How long peers have to answer a close. */
const CLOSING_MS = 1_000;

/** How many connections are closed before the event loop has its turn. */
const CHUNK = 256;

/** Messages over the limit, as multiples of the burst, after which a flooder is cut off. */
const REFUSALS = 10;

const PATHS = new Set(['/ws', '/v1/ws_ticket', '/v1/live/messages', '/v1/asyncapi.json']);

/** Dashboards and agents in live conversation: `/ws`, its tickets, its HTTP fallback and its description. */
export function createLiveFace(options: LiveFaceOptions): Face {
  const { live, settings, clock, streams, quota } = options;
  const { now, monotonic } = clock;
  const { recheck, recheckMs, hold } = streams;
  const working = new Set<Promise<void>>();
  const waiting = new Set<AbortController>();
  let stopping = false;
  const limits = { ...options.limits, bytes: settings.frame_bytes };
  const { nodes } = options;
  const tickets = createTickets({ lifetimeMs: settings.ticket_ms, now, recheck, nodes });
  const pulse = createPulse({ pingMs: settings.ping_ms, recheckMs, recheck, now, monotonic });
  const outgoing = createOutgoing(clock, randomUUID);
  const router = createRouter({
    nodes,
    live,
    outgoing,
    own: createOwnCommands({ ...options, outgoing, limits: statedLimits(settings).result }),
  });
  const fallback = createFallback({
    live,
    deprecations: options.deprecations,
    router,
    outgoing,
    quota,
    limits,
    now,
    maxMessages: settings.mailbox_messages,
    maxBytes: settings.send_buffer_bytes,
    idleMs: settings.mailbox_idle_ms,
    recheck,
    recheckMs,
    hold,
    waiting,
  });
  const sendAsyncApi = createDescription(
    (address) => asyncApiDocument(options.version, address, options.deprecations.allLive),
    options.isSecure,
  );
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: settings.frame_bytes,
    maxFragments: settings.fragments,
    autoPong: false,
    closeTimeout: CLOSING_MS,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    // The types of ws lack one of these.
  } as ConstructorParameters<typeof WebSocketServer>[0]);
  const stated = statedLimits(settings);
  server.on('headers', (headers) =>
    headers.push(
      'Referrer-Policy: no-referrer',
      'Cache-Control: no-store',
      `Parley-Limits: ${stated.header}`,
    ),
  );

  const context: SocketContext = {
    router,
    outgoing,
    quota,
    agentQuota: options.agentQuota,
    json: limits,
    now,
    sendBufferBytes: settings.send_buffer_bytes,
    stuckMs: settings.stuck_ms,
    clientPings: settings.client_pings,
    maxRefusals: REFUSALS * settings.messages_burst,
    work(running) {
      working.add(running);
      void running.finally(() => working.delete(running));
    },
    stopping: () => stopping,
  };

  function open(ws: WebSocket, socket: Socket, claims: Claims): void {
    const link = new SocketLink(ws, socket, claims, context);
    pulse.enter(link);
    ws.on('close', () => {
      pulse.leave(link);
      live.leave(link);
      link.ended();
    });
    live.join(link);
  }

  return {
    claims: (path) => PATHS.has(path),
    async handle(exchange) {
      const { request, path } = exchange;
      if (path === '/ws')
        throw new HttpRefusal(426, 'VALIDATION_ERROR', 'this is a WebSocket: ask for an upgrade', {
          upgrade: 'websocket',
          connection: 'close, upgrade',
          'referrer-policy': 'no-referrer',
        });
      const { method = '' } = request;
      const allowed = METHODS[path] ?? [];
      if (!allowed.includes(method))
        throw new HttpRefusal(405, 'NOT_FOUND', `use ${allowed.join(' or ')} here`, {
          allow: allowed.join(', '),
        });
      if (path === '/v1/asyncapi.json') {
        return sendAsyncApi(exchange);
      }
      const claims = await options.authenticate(request);
      if (path === '/v1/ws_ticket') return sendJson(exchange, 200, JSON.stringify(tickets.issue(claims)));
      // A mailbox is fetched where it is kept.
      const node = nodes && live.mailboxNode(claims);
      if (nodes !== undefined && node !== undefined) return nodes.tunnel.carry(exchange, node, limits.bytes);
      await (method === 'POST' ? fallback.post(exchange, claims) : fallback.get(exchange, claims));
    },
    async upgrade({ request, socket, rest, query }) {
      const words = new URLSearchParams(query);
      checkHandshake(request, words);
      const claims = await identify(request, words, { ...options, tickets, now });
      server.handleUpgrade(request, socket, rest, (ws) => open(ws, socket, claims));
    },
    async close() {
      stopping = true;
      for (const link of pulse.links()) link.abort();
      for (const ending of waiting) ending.abort();
      const until = monotonic() + Math.max(0, options.patienceMs - 2 * CLOSING_MS);
      while ((working.size > 0 || live.asked > 0) && monotonic() < until) await pause(10);
      fallback.close();
      let count = 0;
      for (const link of pulse.links()) {
        link.close(CLOSE.going_away, 'the hub is stopping');
        if (++count % CHUNK === 0) await pause(0);
      }
      const closed = monotonic() + CLOSING_MS;
      while (pulse.size > 0 && monotonic() < closed) await pause(10);
      for (const link of pulse.links()) link.terminate();
      pulse.close();
      live.close();
    },
  };
}

const METHODS: Record<string, string[]> = {
  '/v1/ws_ticket': ['POST'],
  '/v1/live/messages': ['GET', 'POST'],
  '/v1/asyncapi.json': ['GET', 'HEAD'],
};

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
