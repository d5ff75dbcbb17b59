import type { ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/server';
import type { CallContext } from '@parley/core';

import type { CallerHub } from './caller-hub.ts';
import { safeLine } from './safe-json.ts';
import { threadUri } from './thread-uri.ts';
import { markedJson } from './tool-result.ts';

const LISTED = 50;
const RECENT = 50;

/** The caller's threads as resources, newest activity first, a page at a time. */
export async function listThreadResources(
  hub: CallerHub,
  cursor: string | undefined,
  context: CallContext,
): Promise<ListResourcesResult> {
  const input = { limit: LISTED, ...(cursor === undefined ? {} : { before: cursor }) };
  const page = await hub.call('list_threads', input, context);
  return {
    resources: page.threads.map(({ thread_id, title, status, unread }) => ({
      uri: threadUri(thread_id),
      name: thread_id,
      title: safeLine(title, 120),
      description: `${status}, ${unread} unread`,
      mimeType: 'application/json',
    })),
    ...(page.next_before === null ? {} : { nextCursor: page.next_before }),
  };
}

/** A thread with its newest messages. */
export async function readThreadResource(
  hub: CallerHub,
  threadId: string,
  context: CallContext,
): Promise<ReadResourceResult> {
  const thread = await hub.call('get_thread', { thread_id: threadId }, context);
  const since_seq = Math.max(0, thread.last_seq - RECENT);
  const page = await hub.call('read_messages', { thread_id: threadId, since_seq, limit: RECENT }, context);
  const text = markedJson({ thread, since_seq, ...page });
  return { contents: [{ uri: threadUri(threadId), mimeType: 'application/json', text }] };
}
