import { HUB_NAME, type LiveError, type LiveMessage, type LiveType } from '@parley/protocol';

import type { Clock } from '../clock.ts';

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

export function createOutgoing(clock: Clock, newId: () => string): Outgoing {
  const outgoing: Outgoing = {
    message(type, source, target, payload) {
      const timestamp = new Date(clock.now()).toISOString();
      const head = { id: newId(), type, timestamp, source };
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
