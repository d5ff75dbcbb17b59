import type { CommandBody, CommandResponse, LiveEvent, LiveStatus, Sealed, Trouble } from '@parley/core';
import {
  type ErrorCode,
  isOpaque,
  type LiveCode,
  type LiveMessage,
  type LiveType,
  type OpaquePayload,
  fieldsOf,
  entriesOf,
} from '@parley/protocol';

type Payload<T extends LiveType> = LiveMessage<T>['payload'];

/** What each word of this wire for trouble comes to in the hub's words. */
const MEANS: Record<LiveCode, ErrorCode> = {
  INVALID_COMMAND: 'VALIDATION_ERROR',
  UNAUTHORIZED: 'INSUFFICIENT_AUTHORITY',
  AGENT_NOT_FOUND: 'NOT_FOUND',
  AGENT_OFFLINE: 'UNAVAILABLE',
  TASK_TIMEOUT: 'UNAVAILABLE',
  RESOURCE_EXHAUSTED: 'UNAVAILABLE',
  INTERNAL_ERROR: 'UNAVAILABLE',
};

/** The id of the question that a message answers, when it says so. */
export function answered(message: LiveMessage): string | undefined {
  const { payload } = message;
  if (isOpaque(payload)) return payload.requestId;
  if (message.type === 'command_response' || message.type === 'status_update')
    return textOf(fieldsOf(payload)['requestId']);
  if (message.type !== 'error') return undefined;
  return textOf(fieldsOf(fieldsOf(payload)['details'])['requestId']);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A command in the hub's words. */
export function toCommand(payload: Payload<'command'>): CommandBody | Sealed {
  if (isOpaque(payload)) return toSealed(payload);
  const { correlationId: correlation_id, ...body } = payload;
  return { ...body, ...(correlation_id === undefined ? {} : { correlation_id }) };
}

/** What an agent has done, in the hub's words. */
export function toResponse(payload: Payload<'command_response'>): CommandResponse | Sealed {
  if (isOpaque(payload)) return toSealed(payload);
  // Of what is to end only the hub speaks.
  const { requestId: _answered, deprecation: _hubs, executionTime: execution_ms, ...response } = payload;
  return { ...response, execution_ms };
}

/** How an agent is, in the hub's words; the time that it names does not count. */
export function toStatus(payload: Payload<'status_update'>): LiveStatus | Sealed {
  if (isOpaque(payload)) return toSealed(payload);
  const { agentId: name, status, capabilities, metadata } = payload;
  return { name, status, capabilities, ...(metadata === undefined ? {} : { metadata }) };
}

/** What has happened, in the hub's words. */
export function toEvent(payload: Payload<'event'>): LiveEvent | Sealed {
  if (isOpaque(payload)) return toSealed(payload);
  const { agentId: name, eventType: event_type, data, threadId: thread_id } = payload;
  return { name, event_type, data, ...(thread_id === undefined ? {} : { thread_id }) };
}

/** Trouble as it was told, and what it comes to in the hub's words. */
export function toTrouble(payload: Payload<'error'>): Trouble | Sealed {
  if (isOpaque(payload)) return toSealed(payload);
  const { code, details } = payload;
  return {
    ...payload,
    ...(details === undefined ? {} : { details: withoutId(details) }),
    means: entriesOf(MEANS).find(([name]) => name === code)?.[1] ?? 'UNAVAILABLE',
  };
}

/** The id under which an agent was asked is nobody else's business. */
function withoutId(details: unknown): unknown {
  if (details === null || typeof details !== 'object' || !('requestId' in details)) return details;
  const { requestId, ...rest } = details;
  return typeof requestId === 'string' ? rest : details;
}

function toSealed({ jwe }: OpaquePayload): Sealed {
  return { sealed: jwe };
}
