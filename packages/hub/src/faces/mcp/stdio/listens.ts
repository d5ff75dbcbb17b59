import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/server';

import type { CallerHub } from '../caller-hub.ts';
import { isListen, watchWanted } from '../listen.ts';

/** The listen requests of one stdio connection: the SDK acknowledges and addresses them, we watch the threads. */
export function createStdioListens(
  hub: CallerHub,
  publish: (uri: string, signal: AbortSignal) => Promise<void>,
) {
  const endingById = new Map<unknown, AbortController>();

  async function open(message: JSONRPCRequest): Promise<JSONRPCMessage> {
    endingById.get(message.id)?.abort();
    const ending = new AbortController();
    const { signal } = ending;
    endingById.set(message.id, ending);
    return watchWanted(message, {
      hub,
      context: { request_id: '', signal },
      signal,
      publish: (uri) => publish(uri, signal),
      onEnd: () => {},
    });
  }

  return {
    /** Lets a message through; a listen request only with what the caller may hear. */
    pass(message: JSONRPCRequest | JSONRPCNotification): JSONRPCMessage | Promise<JSONRPCMessage> {
      if ('id' in message && isListen(message)) return open(message);
      if (message.method === 'notifications/cancelled') {
        const id = message.params?.['requestId'];
        endingById.get(id)?.abort();
        endingById.delete(id);
      }
      return message;
    },
    close(): void {
      for (const ending of endingById.values()) ending.abort();
    },
  };
}
