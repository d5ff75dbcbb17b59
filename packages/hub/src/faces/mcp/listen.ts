import { fieldsOf } from '@parley/protocol';
import type { CallContext } from '@parley/core';

import type { CallerHub } from './caller-hub.ts';
import { threadOfUri } from './thread-uri.ts';
import { MAX_WATCHED, watchThread } from './watch-thread.ts';

/** As much of a `subscriptions/listen` request as is looked at before the SDK checks it. */
export interface ListenMessage {
  params?: Record<string, unknown> | undefined;
}

export interface Listener {
  hub: CallerHub;
  context: CallContext;
  signal: AbortSignal;
  /** Tells the client that a resource has changed; resolves when it could be written. */
  publish: (uri: string) => Promise<void>;
  /** A watch has broken off: the stream must not go on as if nothing had happened. */
  onEnd: () => void;
}

/** True for the request that opens the modern revision's one long stream. */
export function isListen(body: unknown): body is ListenMessage {
  return (
    body !== null && typeof body === 'object' && 'method' in body && body.method === 'subscriptions/listen'
  );
}

/**
 * Watches those of the wanted threads that the caller may read and leaves the others out of the request, so that its
 * acknowledgement names exactly what will be told.
 */
export async function watchWanted<M extends ListenMessage>(message: M, listener: Listener): Promise<M> {
  const filter = fieldsOf(message.params?.['notifications']);
  const wanted = filter['resourceSubscriptions'];
  if (!Array.isArray(wanted)) return message;
  const uris = [...new Set(wanted)].filter((uri) => typeof uri === 'string').slice(0, MAX_WATCHED);
  const granted: string[] = [];
  for (const uri of uris) if (await watch(uri, listener)) granted.push(uri);
  const notifications = { ...filter, resourceSubscriptions: granted };
  return { ...message, params: { ...message.params, notifications } };
}

async function watch(uri: string, listener: Listener): Promise<boolean> {
  const threadId = threadOfUri(uri);
  if (threadId === undefined) return false;
  try {
    await watchThread({ ...listener, threadId, onGrowth: () => listener.publish(uri) });
    return true;
  } catch {
    return false;
  }
}
