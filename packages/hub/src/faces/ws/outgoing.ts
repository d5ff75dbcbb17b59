import type { Clock } from '@parley/core';
import { HUB_NAME, type LiveError, type LiveMessage, type LiveType } from '@parley/protocol';

/** Makes messages with fresh ids and the hub's own time. */
export interface Outgoing {
  message<T extends LiveType>(
    type: T,
    source: string,
    target: string | undefined,
    payload: LiveMessage<T>['payload'],
  ): LiveMessage<T>;
  /** A refusal by the hub; `requestId` names what is refused. */
  error(error: LiveError, target: string, requestId?: string): LiveMessage<'error'>;
}

export function createOutgoing(clock: Pick<Clock, 'now'>, newId: () => string): Outgoing {
  const outgoing: Outgoing = {
    message(type, source, target, payload) {
      const timestamp = new Date(clock.now()).toISOString();
      const head = { id: newId(), type, timestamp, source };
      // Type and payload belong together by the signature, which the compiler forgets where they are joined.
      return { ...head, ...(target === undefined ? {} : { target }), payload } as never;
    },
    error({ code, message, details }, target, requestId) {
      return outgoing.message('error', HUB_NAME, target, {
        code,
        message,
        details: { ...details, ...(requestId === undefined ? {} : { requestId }) },
        recoverable: true,
      });
    },
  };
  return outgoing;
}
