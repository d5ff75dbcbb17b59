import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { CallContext } from '@parley/core';
import { ParleyError, readTrace, toEnvelope, type Trace } from '@parley/protocol';

import type { CallerHub } from './caller-hub.ts';
import { safeLine } from './safe-json.ts';

/** What a server instance knows of the wire it stands on. */
export interface Connection {
  /** The hub for the caller of this very request. */
  hub(ctx: ServerContext): CallerHub;
  requestId(ctx: ServerContext): string;
  /** Resolves when a notification can be taken; a client that does not read is not written to. */
  pushable(signal: AbortSignal): Promise<void>;
}

/** The gate's context of an MCP request: ends when the request is cancelled or its client goes away. */
export function callContext(connection: Connection, ctx: ServerContext): CallContext {
  return new McpCallContext(connection.requestId(ctx), ctx);
}

/** A class: a getter made per request would give each context a hidden class that outlives it. */
class McpCallContext implements CallContext {
  readonly request_id: string;
  readonly trace: Trace | undefined;
  readonly progress?: (message: string) => void;
  readonly #ctx: ServerContext;
  #signal: AbortSignal | undefined;

  constructor(requestId: string, ctx: ServerContext) {
    this.request_id = requestId;
    this.#ctx = ctx;
    const { _meta: meta } = ctx.mcpReq;
    this.trace = readTrace(meta?.['traceparent'], meta?.['tracestate']);
    const token = meta?.progressToken;
    let steps = 0;
    if (token === undefined) return;
    this.progress = (message) => {
      const params = { progressToken: token, progress: ++steps, message };
      // Nobody waits for a progress note, and a client that has left gets none.
      ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    };
  }

  get signal(): AbortSignal {
    const { mcpReq, http } = this.#ctx;
    const gone = http?.req?.signal;
    this.#signal ??= gone === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, gone]);
    return this.#signal;
  }
}

/** An error as the gate would give it, whatever was thrown. */
export function asParleyError(thrown: unknown): ParleyError {
  if (thrown instanceof ParleyError) return thrown;
  return new ParleyError('INTERNAL', 'something went wrong inside the hub');
}

/** The id under which an error is on record: the hub's own when it stands in another process. */
export function requestIdOf(error: ParleyError, fallback: string): string {
  return 'request_id' in error && typeof error.request_id === 'string' ? error.request_id : fallback;
}

/** An error of a method that has no error result of its own. */
export function protocolError(thrown: unknown, requestId: string, uri?: string): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const error = asParleyError(thrown);
  const code = error.code === 'INTERNAL' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  const data = {
    ...(uri === undefined ? {} : { uri }),
    ...toEnvelope(error, requestIdOf(error, requestId)).error,
  };
  return new ProtocolError(code, error.message, data);
}

/** The answer to a resource that is no thread. */
export function noSuchResource(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri, `Resource not found: ${safeLine(uri, 200)}`);
}
