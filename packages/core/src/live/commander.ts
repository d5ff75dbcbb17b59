import { type ErrorDetails, ParleyError, fieldsOf } from '@parley/protocol';

import type { Commander } from '../agents/ports.ts';
import {
  type CommandOutcome,
  type CommandPort,
  type Failed,
  isSealed,
  type Trouble,
  type Unanswered,
} from './command-port.ts';

/** Lets every face command an agent: asks and waits for the answer. */
export function createCommander(port: CommandPort, newId: () => string): Commander {
  return {
    async command(caller, input, { signal }) {
      const { of_agent, of_session, timeout_ms, idempotency_key, command, parameters, correlation_id } =
        input;
      const body = {
        command,
        ...(parameters === undefined ? {} : { parameters }),
        ...(correlation_id === undefined ? {} : { correlation_id }),
      };
      const asked = {
        caller,
        command_id: idempotency_key ?? newId(),
        of_agent,
        of_session,
        body,
        timeout_ms,
      };
      let leave = (): void => {};
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(unavailable('the caller has gone'));
      });
      signal.addEventListener('abort', leave);
      try {
        return toOutput(await Promise.race([port.command(asked), left]));
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
  };
}

function toOutput(ended: CommandOutcome) {
  if (ended.outcome !== 'answered') throw whyNot(ended);
  // What only the asker can read is an answer all the same.
  return isSealed(ended.response)
    ? { success: true, result: ended.response, execution_ms: 0 }
    : ended.response;
}

function whyNot(ended: Failed | Unanswered): ParleyError {
  if (ended.outcome === 'failed')
    return isSealed(ended.error)
      ? unavailable('the agent answered with a sealed error')
      : toError(ended.error);
  const { message } = ended;
  if (ended.outcome === 'refused') return new ParleyError(ended.code, message, ended.details);
  if (ended.outcome !== 'no_such_session')
    return unavailable(message, { reason: 'task_timeout', timeout_ms: ended.timeout_ms });
  const { known, last_seen } = ended;
  return known
    ? unavailable(message, { reason: 'agent_offline', ...(last_seen === undefined ? {} : { last_seen }) })
    : new ParleyError('NOT_FOUND', message, { reason: 'agent_not_found' });
}

function unavailable(message: string, details?: ErrorDetails): ParleyError {
  return new ParleyError('UNAVAILABLE', message, details);
}

function toError({ means, code, message, details }: Trouble): ParleyError {
  return new ParleyError(means, message, { ...fieldsOf(details), reason: code.toLowerCase() });
}
