import type { Message } from '@parley/protocol';

import { ClientError } from './client-error.ts';
import { type FollowOptions, followStream, type Source } from './follow-stream.ts';
import type { Transport } from './transport.ts';

/** The messages of a thread after `since`, first those there are, then each as it is said. */
export type Follow = (
  threadId: string,
  since?: number,
  options?: FollowOptions,
) => AsyncGenerator<Message, void, void>;

/** Follows a thread over server-sent events and over every broken connection, each message once and in order. */
export function createFollow(transport: Transport, patienceMs: number): Follow {
  return (threadId, since = 0, options = {}) =>
    followStream(transport, patienceMs, messagesOf(threadId), since, options);
}

function messagesOf(threadId: string): Source<Message> {
  const at = `/v1/threads/${encodeURIComponent(threadId)}/messages`;
  return {
    path: (position = 0) => `${at}?since_seq=${position}`,
    read({ event, data }, position = 0) {
      if (event !== 'message') return {};
      // The hub writes nothing else to this stream.
      const message = JSON.parse(data) as Message;
      if (message.seq <= position) return {};
      if (message.seq !== position + 1) throw gap(position, message.seq);
      return { position: message.seq, item: message };
    },
  };
}

function gap(position: number, next: number): ClientError {
  return new ClientError('INTERNAL', `the stream jumped from seq ${position} to ${next}`, { status: 200 });
}
