import { randomBytes } from 'node:crypto';

import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Claims } from '@parley/protocol';

import type { McpRequest } from './modern.ts';
import { openPush, pushable, type PushStream } from './push-stream.ts';
import { noSuchSession, RpcRefusal } from './rpc-error.ts';
import type { Surface } from './surface.ts';
import { sendWebResponse } from './web-bridge.ts';

export interface SessionLimits {
  idleMs: number;
  maxSessions: number;
  /** The node that a session began at, where there are several: its id begins with it. */
  node?: string | undefined;
}

/** The older revisions' state between requests of one client. */
interface LegacySession {
  principal: string;
  /** The agent of a workspace whose share of the sessions it counts against. */
  holder: string;
  transport: WebStandardStreamableHTTPServerTransport;
  seenAt: number;
  /** Exchanges that are not over; a session with one is not idle. */
  open: number;
  push: PushStream;
  /** Ids of our own requests that the client has yet to answer. */
  asked: Set<string | number>;
}

/** The revisions with sessions: each session belongs to the principal that began it and to nobody else. */
export function createLegacySessions(
  surface: Surface,
  limits: SessionLimits,
  now: () => number,
  onerror: (error: Error) => void,
) {
  /** Least recently used first. */
  const sessionsById = new Map<string, LegacySession>();
  let closing = false;

  async function begin(request: McpRequest): Promise<void> {
    makeRoom(request.auth.claims);
    const push: PushStream = { response: undefined, onOpen: new Set() };
    const asked = new Set<string | number>();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => {
        const id = randomBytes(24).toString('base64url');
        return limits.node === undefined ? id : `${limits.node}.${id}`;
      },
      onsessioninitialized(id) {
        sessionsById.set(id, session);
      },
    });
    const session: LegacySession = {
      principal: principalOf(request.auth.claims),
      holder: holderOf(request.auth.claims),
      transport,
      seenAt: now(),
      open: 0,
      push,
      asked,
    };
    const server = surface.server({ pushable: (signal) => pushable(push, signal) }, 'legacy');
    server.onerror = onerror;
    await server.connect(transport);
    noteQuestions(transport, asked);
    const previous = transport.onclose;
    transport.onclose = () => {
      previous?.();
      if (transport.sessionId !== undefined) sessionsById.delete(transport.sessionId);
    };
    await serve(session, request);
    if (transport.sessionId === undefined) await transport.close();
  }

  async function serve(session: LegacySession, request: McpRequest): Promise<void> {
    const { exchange, web, body, authInfo, ending } = request;
    session.open++;
    try {
      const answer = await session.transport.handleRequest(web, {
        authInfo,
        ...(body === undefined ? {} : { parsedBody: body }),
      });
      if (web.method === 'GET' && answer.status === 200) openPush(session.push, exchange.response);
      await sendWebResponse(exchange, answer, ending.signal);
      if (session.push.response === exchange.response) session.push.response = undefined;
    } finally {
      session.open--;
      session.seenAt = now();
      if (closing && session.open === 0) await session.transport.close();
    }
  }

  function find(id: string, claims: Claims): LegacySession {
    const session = sessionsById.get(id);
    if (session === undefined || session.principal !== principalOf(claims)) throw noSuchSession();
    if (session.open === 0 && now() - session.seenAt > limits.idleMs) {
      void session.transport.close();
      throw noSuchSession();
    }
    sessionsById.delete(id);
    sessionsById.set(id, session);
    return session;
  }

  /**
   * At the bound a session goes, and its client is told to begin anew: the caller's own that is idle the longest, else
   * one of whoever has the most, idle ones first. So nobody who has fewer is kept out by one who has many.
   */
  function makeRoom(claims: Claims): void {
    if (sessionsById.size < limits.maxSessions) return;
    const sessions = [...sessionsById.values()];
    const countByHolder = new Map<string, number>();
    for (const { holder } of sessions) countByHolder.set(holder, (countByHolder.get(holder) ?? 0) + 1);
    const countOf = ({ holder }: LegacySession): number => countByHolder.get(holder) ?? 0;
    const caller = holderOf(claims);
    const own = countByHolder.get(caller) ?? 0;
    const idle = sessions.filter(({ open }) => open === 0);
    const mostHeld = (some: LegacySession[]): LegacySession | undefined =>
      some.toSorted((a, b) => countOf(b) - countOf(a))[0];
    const gone =
      idle.find(({ holder }) => holder === caller) ??
      mostHeld(idle.filter((session) => countOf(session) >= own)) ??
      mostHeld(sessions.filter((session) => countOf(session) > own + 1));
    if (gone === undefined)
      throw new RpcRefusal(503, -32_000, 'UNAVAILABLE', 'too many MCP sessions are busy; try again');
    void gone.transport.close();
  }

  const sweep = setInterval(
    () => {
      for (const session of sessionsById.values())
        if (session.open === 0 && now() - session.seenAt > limits.idleMs) void session.transport.close();
    },
    Math.max(100, Math.min(30_000, limits.idleMs / 2)),
  );
  sweep.unref();

  return {
    async answer(request: McpRequest): Promise<void> {
      const { web, body, auth } = request;
      if (!['GET', 'POST', 'DELETE'].includes(web.method))
        throw new RpcRefusal(405, -32_000, 'NOT_FOUND', 'use POST, GET or DELETE here', {
          allow: 'POST, GET, DELETE',
        });
      const id = web.headers.get('mcp-session-id');
      if (id === null) {
        if (isInitializeRequest(body)) return begin(request);
        throw new RpcRefusal(400, -32_000, 'VALIDATION_ERROR', 'the Mcp-Session-Id header is missing');
      }
      const session = find(id, auth.claims);
      if (isAnswer(body) && !session.asked.delete(body.id ?? ''))
        throw new RpcRefusal(400, -32_600, 'VALIDATION_ERROR', 'this answers nothing that was asked');
      await serve(session, request);
      // A cancelled request gets no answer: nothing else would end its stream.
      if (isCancellation(body)) session.transport.closeSSEStream(body.params.requestId);
    },
    /** Drops the idle sessions now and the others as their calls finish. */
    async close(): Promise<void> {
      closing = true;
      clearInterval(sweep);
      const idle = [...sessionsById.values()].filter(({ open }) => open === 0);
      await Promise.all(idle.map(({ transport }) => transport.close()));
    },
  };
}

function principalOf({ workspace_id, agent_id, role, session_id }: Claims): string {
  return JSON.stringify([workspace_id, agent_id, role, session_id]);
}

function holderOf({ workspace_id, agent_id }: Claims): string {
  return `${workspace_id} ${agent_id}`;
}

function isAnswer(body: unknown): body is { id?: string | number } {
  return isJSONRPCResultResponse(body) || isJSONRPCErrorResponse(body);
}

function isCancellation(body: unknown): body is { params: { requestId: string | number } } {
  return isJSONRPCNotification(body) && body.method === 'notifications/cancelled';
}

/** Remembers what the server asks of the client, so that only answers to it are let in. */
function noteQuestions(
  transport: WebStandardStreamableHTTPServerTransport,
  asked: Set<string | number>,
): void {
  const send = transport.send.bind(transport);
  transport.send = (message: JSONRPCMessage, options) => {
    if (isJSONRPCRequest(message)) asked.add(message.id);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      // What is no id of a call is found nowhere.
      asked.delete(message.params?.['requestId'] as string | number);
    return send(message, options);
  };
}
