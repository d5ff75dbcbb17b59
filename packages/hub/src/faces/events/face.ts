import { admitReader, checkThreadScope, toEvent } from '@parley/core';
import { type Claims, decodeJson, LIMITS, type OperationName, Seq } from '@parley/protocol';
import * as z from 'zod';

import { allow } from '../../allow.ts';
import { type Exchange, readJsonText, sendError, sendJson } from '../../exchange.ts';
import { readQuery } from '../../query.ts';
import { requestContext } from '../../request-context.ts';
import type { Face } from '../../server.ts';
import type { EventsOptions } from './options.ts';
import { parse } from './parse.ts';
import { postEvent } from './post-event.ts';
import { inOwnWords } from './refusal.ts';
import { streamThread } from './stream-thread.ts';
import { streamWorkspace } from './stream-workspace.ts';

const THREAD_PATH = /^\/v1\/threads\/([^/]+)\/(events|stream)$/;
const WORKSPACE_STREAM = '/v1/stream';

const PageInput = z.strictObject({
  since_seq: Seq.optional(),
  limit: z.number().int().min(1).default(LIMITS.page_default),
});

/** The thread event log: one envelope to read, to post and to follow, for a thread or for the whole workspace. */
export function createEventsFace(options: EventsOptions): Face {
  const { hub, log, authenticate, limits, deprecations } = options;
  const waiting = new Set<AbortController>();

  async function readPage(exchange: Exchange, claims: Claims, thread_id: string): Promise<void> {
    const { since_seq, limit } = parse(PageInput, readQuery(PageInput, exchange.query));
    // Through the gate, with its words and its line in the log.
    await hub.call(claims, 'get_thread', { thread_id }, requestContext(exchange));
    const page = await log.read({
      workspace_id: claims.workspace_id,
      thread_id,
      after: since_seq ?? -1,
      limit: Math.min(limit, LIMITS.page_max),
      max_bytes: LIMITS.page_bytes,
    });
    admitReader(page.located, claims);
    const events = page.entries.map(toEvent);
    const [first] = page.entries;
    if (first !== undefined)
      options.offers.note(claims, thread_id, first.seq + events.length - 1, 'read', first.seq);
    const next_seq = page.entries.at(-1)?.seq ?? since_seq ?? 0;
    sendJson(exchange, 200, JSON.stringify({ events, next_seq, has_more: page.has_more }));
  }

  return {
    claims: (path) => path === WORKSPACE_STREAM || THREAD_PATH.test(path),
    async handle(exchange) {
      const { request, path } = exchange;
      const [, part = '', what] = THREAD_PATH.exec(path) ?? [];
      allow(request.method, what === 'events' ? ['GET', 'POST'] : ['GET']);
      const claims = await authenticate(request);
      if (what === undefined) {
        await streamWorkspace(exchange, options, claims, waiting);
        return;
      }
      const threadId = decodePart(part);
      checkThreadScope(threadId, claims);
      if (what === 'stream') {
        await streamThread(exchange, options, claims, threadId, waiting);
        return;
      }
      if (request.method === 'GET') {
        await readPage(exchange, claims, threadId);
        return;
      }
      const body = decodeJson(await readJsonText(exchange, limits.bytes), limits);
      const notice = (operation: OperationName): void => {
        exchange.notices = deprecations.headers(operation);
      };
      const context = requestContext(exchange, waiting);
      const answer = await postEvent(options, claims, threadId, body, notice, context);
      sendJson(exchange, 200, JSON.stringify(answer));
    },
    refuse: (exchange, error) => sendError(exchange, error, inOwnWords(error, exchange.request_id)),
    async close() {
      for (const ending of waiting) ending.abort();
    },
  };
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
