import { type CallRecord, isRecorded, type Jump } from '@parley/core';
import { hideSecrets, type ParleyError } from '@parley/protocol';

import type { Logger } from './logger.ts';
import type { Refused } from './server.ts';

/** One line of the log for each call. */
export function recordCall(
  log: Logger,
  { request_id, operation, caller, ms, trace, later, error, cause }: CallRecord,
): void {
  const line = {
    request_id,
    op: operation,
    agent: caller.agent_id,
    workspace: caller.workspace_id,
    ms: Math.round(ms * 1_000) / 1_000,
    ...(later ? { later } : {}),
    ...(trace === undefined ? {} : { trace: trace.traceparent }),
    ...(trace?.request_id === undefined ? {} : { sender_request_id: trace.request_id }),
    ...(trace?.correlation_id === undefined ? {} : { correlation_id: trace.correlation_id }),
  };
  if (error === undefined) log.info(line, 'call');
  else if (error.code === 'INTERNAL')
    log.error({ ...line, code: error.code, cause: describeCause(cause ?? error) }, 'call');
  else log.info({ ...line, code: error.code, why: error.message }, 'call');
}

/** One line for what was refused before it came to the gate. */
export function recordRefusal(
  log: Logger,
  { request_id, request, path }: Refused,
  error: ParleyError,
  cause: unknown,
): void {
  if (isRecorded(error)) return;
  const reason = 'reason' in error ? String(error.reason) : error.message;
  const line = {
    request_id,
    method: request.method,
    path: hideSecrets(path).slice(0, 200),
    code: error.code,
    why: reason,
  };
  if (error.code === 'INTERNAL') log.error({ ...line, cause: describeCause(cause) }, 'refused');
  else log.info(line, 'refused');
}

/** One line for a clock that has jumped. */
export function recordJump(log: Logger, { from, to }: Jump): void {
  const moments = { expected: new Date(from).toISOString(), shown: new Date(to).toISOString() };
  if (to < from) log.warn(moments, 'the clock jumped back');
  else log.warn(moments, 'the clock jumped ahead: nothing is forgotten by it before it was seen for a day');
}

/** What is behind an error, for the operator alone. */
export function describeCause(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
