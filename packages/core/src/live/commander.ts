import { type LiveCode, type LiveMessage, ParleyError, type ErrorCode } from '@parley/protocol';

import type { Commander } from '../agents/ports.ts';
import type { Broker } from './broker.ts';
import type { Link, Speaker } from './link.ts';
import type { Outgoing } from './outgoing.ts';

/** The word of the table of operations for each word of this wire. */
const CODE: Record<LiveCode, ErrorCode> = {
  INVALID_COMMAND: 'VALIDATION_ERROR',
  UNAUTHORIZED: 'INSUFFICIENT_AUTHORITY',
  AGENT_NOT_FOUND: 'NOT_FOUND',
  AGENT_OFFLINE: 'UNAVAILABLE',
  TASK_TIMEOUT: 'UNAVAILABLE',
  RESOURCE_EXHAUSTED: 'UNAVAILABLE',
  INTERNAL_ERROR: 'UNAVAILABLE',
};

/** Lets every face command an agent: asks as if over `/ws` and waits for the answer. */
export function createCommander(broker: Broker, outgoing: Outgoing): Commander {
  return {
    async command(caller, input, { signal }) {
      const { of_agent, command, parameters, correlation_id, timeout_ms, idempotency_key } = input;
      const message = outgoing.message('command', caller.agent_id, of_agent, {
        command,
        ...(parameters === undefined ? {} : { parameters }),
        ...(correlation_id === undefined ? {} : { correlationId: correlation_id }),
      });
      const answer = await new Promise<LiveMessage>((resolve, reject) => {
        const speaker: Speaker = {
          caller,
          get listening() {
            return !signal.aborted;
          },
          reply: resolve,
          link: (): Link => {
            throw new ParleyError('UNAVAILABLE', 'a call has no lasting connection');
          },
          signal,
        };
        signal.addEventListener('abort', () => reject(new ParleyError('UNAVAILABLE', 'the caller has gone')));
        const id = idempotency_key ?? message.id;
        void broker.receive(speaker, { ...message, id }, timeout_ms);
      });
      return toOutput(answer);
    },
  };
}

function toOutput({ type, payload }: LiveMessage) {
  if (type === 'error') {
    const { code, message, details } = payload as { code: string; message: string; details?: object };
    const known = Object.hasOwn(CODE, code) ? CODE[code as LiveCode] : 'UNAVAILABLE';
    throw new ParleyError(known, message, {
      ...details,
      reason: code.toLowerCase(),
    });
  }
  const { success, result, error, executionTime } = payload as Exclude<
    LiveMessage<'command_response'>['payload'],
    { jwe: string }
  >;
  return {
    success,
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
    execution_ms: executionTime,
  };
}
