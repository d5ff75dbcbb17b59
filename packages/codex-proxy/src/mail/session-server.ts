import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

import { asError } from '@parley/protocol';

import type { Log } from '../logger.ts';
import type { SessionHandler } from './session-handler.ts';
import type { MailToolDeps, MailUser } from './mail-tools.ts';

/** How a Codex session reaches the mail tools. */
interface ToolAccess {
  url: string;
  headers: Record<string, string>;
}

/** The mail tools inside the sessions: whoever has a session's key, its subagents too, speaks as that session. */
export interface SessionServer {
  /** Opens a way in for one session. */
  admit(user: MailUser): Promise<ToolAccess>;
  /** The session's key is good for nothing from now on. */
  dismiss(agentId: string): void;
  close(): Promise<void>;
}

interface Admitted {
  agentId: string;
  access: ToolAccess;
  user: MailUser;
  /** Made for the first call. */
  handler?: Promise<SessionHandler>;
}

const MOST_BYTES = 4_194_304;

/** An MCP server on loopback, opened for the first session; a secret header says which session calls. */
export function createSessionServer(deps: MailToolDeps, log: Log): SessionServer {
  /** By the digest of the key, so that no comparison tells how much of a guess was right. */
  const admittedByDigest = new Map<string, Admitted>();
  const admittedAs = (agentId: string): [string, Admitted] | undefined =>
    [...admittedByDigest].find(([, one]) => one.agentId === agentId);
  let opening: Promise<{ http: HttpServer; origin: string }> | undefined;

  const onerror = (error: Error): void => log('debug', 'a mail tool call failed', { error: error.message });

  /** Most sessions never call: what speaks MCP is loaded for the first that does. */
  const handlerFor = async (user: MailUser): Promise<SessionHandler> => {
    const { createSessionHandler } = await import('./session-handler.ts');
    return createSessionHandler(deps, user, onerror);
  };

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    origin: string,
  ): Promise<void> => {
    if (`http://${request.headers.host}` !== origin || request.headers.origin !== undefined)
      return refuse(response, 403);
    const admitted = admittedByDigest.get(digestOf(request.headers.authorization ?? ''));
    if (admitted === undefined) return refuse(response, 401);
    const body = await readBody(request);
    if (body === undefined) return refuse(response, 413);
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const { method = 'GET', url = '/' } = request;
    const web = new Request(origin + url, { method, headers, ...(body.length === 0 ? {} : { body }) });
    const handler = await (admitted.handler ??= handlerFor(admitted.user));
    const answered = await handler.fetch(web);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(Buffer.from(await answered.arrayBuffer()));
  };

  const open = async (): Promise<{ http: HttpServer; origin: string }> => {
    const http = createServer((request, response) => {
      answer(request, response, origin).catch((error: unknown) => {
        onerror(asError(error));
        refuse(response, 500);
      });
    });
    http.unref();
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    // It listens at a port.
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    return { http, origin };
  };

  const dismiss = (agentId: string): void => {
    const [digest, admitted] = admittedAs(agentId) ?? [];
    if (digest === undefined) return;
    admittedByDigest.delete(digest);
    void admitted?.handler?.then((handler) => handler.close());
  };

  return {
    async admit(user) {
      const agentId = user.agentId ?? '';
      const { origin } = await (opening ??= open());
      const [, known] = admittedAs(agentId) ?? [];
      if (known !== undefined) return known.access;
      const authorization = `Bearer ${randomBytes(32).toString('base64url')}`;
      const access = { url: `${origin}/mcp`, headers: { authorization } };
      admittedByDigest.set(digestOf(authorization), { agentId, access, user });
      return access;
    },
    dismiss,
    async close() {
      for (const { agentId } of admittedByDigest.values()) dismiss(agentId);
      const opened = await opening;
      opened?.http.closeAllConnections();
      opened?.http.close();
    },
  };
}

function digestOf(authorization: string): string {
  return createHash('sha256').update(authorization).digest('base64');
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // Without an encoding its pieces are bytes.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > MOST_BYTES) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function refuse(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.writeHead(status);
  response.end();
}
