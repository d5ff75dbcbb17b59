import type { ErrorEnvelope, OperationName, OutputOf } from '@parley/protocol';

import type { Answer, FaceDriver } from './face-driver.ts';
import { type LegacySession, modern, openLegacy, type RpcReply } from './mcp-wire.ts';

/** MCP of the newest revision: every call stands alone. */
export const mcpModernDriver: FaceDriver = {
  name: 'MCP 2026-07-28',
  async call(url, token, operation, input, options = {}) {
    const params = { name: operation, arguments: input as Record<string, unknown> };
    return toAnswer(operation, await modern(url, token, 'tools/call', params, options));
  },
  statusOf: (code) => (code === 'UNAUTHORIZED' ? 401 : 200),
};

/** MCP of the older revisions: a session for each token. */
export const mcpLegacyDriver: FaceDriver = {
  name: 'MCP 2025-11-25',
  async call(url, token, operation, input, options = {}) {
    const session = await sessionOf(url, token ?? '');
    const params = { name: operation, arguments: input as Record<string, unknown> };
    const reply =
      typeof session === 'string' ? undefined : await session.request('tools/call', params, options);
    return toAnswer(operation, reply ?? (await refusedHandshake(url, token)));
  },
  statusOf: (code) => mcpModernDriver.statusOf(code),
};

const sessions = new Map<string, Promise<LegacySession | 'refused'>>();

function sessionOf(url: string, token: string): Promise<LegacySession | 'refused'> {
  const key = `${url} ${token}`;
  const known = sessions.get(key) ?? begin(url, token);
  sessions.set(key, known);
  return known;
}

async function begin(url: string, token: string): Promise<LegacySession | 'refused'> {
  const session = await openLegacy(url, token);
  return session.init.status === 200 ? session : 'refused';
}

/** A caller who gets no session gets the answer to his handshake. */
async function refusedHandshake(url: string, token: string | undefined): Promise<RpcReply> {
  return (await openLegacy(url, token ?? '')).init;
}

/** Reads a reply as the answer of an operation: a tool's result, its error envelope, or a refusal before any tool. */
function toAnswer<N extends OperationName>(operation: N, reply: RpcReply): Answer<N> {
  const { status, headers, answer, text } = reply;
  const base = { operation, status, headers };
  if (answer?.error !== undefined) {
    const { message, data } = answer.error;
    const error = { message, ...data } as ErrorEnvelope['error'];
    return { ...base, result: undefined, error };
  }
  const { structuredContent, isError } = answer?.result ?? {};
  if (structuredContent === undefined)
    throw new Error(`${operation} answered ${status}: ${text.slice(0, 300)}`);
  if (isError === true)
    return { ...base, result: undefined, error: (structuredContent as ErrorEnvelope).error };
  return { ...base, result: structuredContent as OutputOf<N>, error: undefined };
}
