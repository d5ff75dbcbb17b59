import {
  type CommandResponse,
  isSealed,
  type LiveEvent,
  type LiveStatus,
  type LiveUpdate,
  type Sealed,
  type Trouble,
  type Unanswered,
} from '@parley/core';
import {
  isOpaque,
  LiveError,
  type LiveMessage,
  type LiveType,
  type OpaquePayload,
  ParleyError,
  toLiveError,
  toToolMessage,
  fieldsOf,
} from '@parley/protocol';

type Payload<T extends LiveType> = LiveMessage<T>['payload'];

const messagesByUpdate = new WeakMap<LiveUpdate, LiveMessage>();

/** An update in the words of `/ws`; made once, however many get it. */
export function toMessage(update: LiveUpdate): LiveMessage {
  let message = messagesByUpdate.get(update);
  if (message === undefined) messagesByUpdate.set(update, (message = translated(update)));
  return message;
}

function translated(update: LiveUpdate): LiveMessage {
  const { id, at: timestamp, from: source, to } = update;
  const head = { id, timestamp, source, ...(to === undefined ? {} : { target: to }) };
  if (update.type === 'command')
    return { ...head, type: 'command', payload: commandPayload(update), sourceRole: update.from_role };
  if (update.type === 'status_request')
    return { ...head, type: 'status_request', payload: {}, sourceRole: update.from_role };
  if (update.type === 'status')
    return { ...head, type: 'status_update', payload: statusPayload(update.body) };
  if (update.type === 'event') return { ...head, type: 'event', payload: eventPayload(update.body) };
  return { ...head, type: 'error', payload: errorPayload(update.body) };
}

/** A command as its agent takes it: one that executes by Langroid gets a ToolMessage; what is sealed stays as it is. */
function commandPayload({ body, executor }: LiveUpdate<'command'>): Payload<'command'> {
  if (isSealed(body)) return opaque(body);
  const { correlation_id, ...payload } = body;
  const { command, parameters = {} } = payload;
  const wrapped = executor === 'langroid' && !isOpaque(parameters);
  return {
    ...payload,
    ...(wrapped ? { parameters: toToolMessage(command, parameters) } : {}),
    ...(correlation_id === undefined ? {} : { correlationId: correlation_id }),
  };
}

/** What an agent has done, as the answer to a command. */
export function responsePayload(
  response: CommandResponse | Sealed,
  requestId: string,
): Payload<'command_response'> {
  if (isSealed(response)) return opaque(response, requestId);
  const { execution_ms: executionTime, ...said } = response;
  return { ...said, executionTime, requestId };
}

/** How an agent is; with an id as the answer to a request. */
export function statusPayload(status: LiveStatus | Sealed, requestId?: string): Payload<'status_update'> {
  if (isSealed(status)) return opaque(status, requestId);
  const { name: agentId, last_seen, ...said } = status;
  return {
    agentId,
    ...said,
    ...(last_seen === undefined ? {} : { lastSeen: last_seen }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function eventPayload(event: LiveEvent | Sealed): Payload<'event'> {
  if (isSealed(event)) return opaque(event);
  const { name: agentId, event_type: eventType, data, thread_id } = event;
  return { eventType, agentId, data, ...(thread_id === undefined ? {} : { threadId: thread_id }) };
}

/** Trouble as it was told; with an id as the answer to a question. */
export function errorPayload(error: Trouble | Sealed, requestId?: string): Payload<'error'> {
  if (isSealed(error)) return opaque(error, requestId);
  const { means: _inOurWords, ...said } = error;
  return requestId === undefined ? said : { ...said, details: { ...fieldsOf(said.details), requestId } };
}

/** Why something that was asked of an agent has no answer, in the words of `/ws`. */
export function toRefusal(ended: Unanswered): LiveError {
  if (ended.outcome === 'refused') return refusalOf(ended);
  const { message } = ended;
  if (ended.outcome === 'no_such_session') {
    const seen = ended.last_seen === undefined ? {} : { lastSeen: ended.last_seen };
    return new LiveError(ended.known ? 'AGENT_OFFLINE' : 'AGENT_NOT_FOUND', message, seen);
  }
  const { timeout_ms: timeout, of_agent: agentId } = ended;
  return new LiveError('TASK_TIMEOUT', message, { timeout, agentId });
}

function refusalOf({ code, message, details }: Extract<Unanswered, { outcome: 'refused' }>): LiveError {
  const { reason, sessions, capabilities, limit } = details;
  switch (reason) {
    case 'several_sessions':
      return new LiveError('INVALID_COMMAND', message, { field: 'targetSession', reason, sessions });
    case 'not_listed':
      return new LiveError('INVALID_COMMAND', message, { field: 'payload.command', capabilities });
    case 'repeated_id':
      return new LiveError('INVALID_COMMAND', message, { field: 'id', reason });
    case 'at_capacity':
      return new LiveError('RESOURCE_EXHAUSTED', message, { reason, limit });
    case 'slow_reader':
      return new LiveError('RESOURCE_EXHAUSTED', message, { reason });
    default:
      return toLiveError(new ParleyError(code, message, details));
  }
}

/** That a follower was too slow: what it has missed follows now. */
export function gapFrom(thread_id: string, missed_from_seq: number): LiveError {
  const details = { reason: 'gap', thread_id, missed_from_seq };
  return new LiveError('RESOURCE_EXHAUSTED', 'you read too slowly; what you missed follows now', details);
}

/** That a follower follows a thread no longer. */
export function droppedFrom(thread_id: string, why: unknown): LiveError {
  const { code, message, details } = toLiveError(why);
  return new LiveError(code, message, { ...details, thread_id });
}

function opaque({ sealed: jwe }: Sealed, requestId?: string): OpaquePayload {
  return { contentType: 'application/jose', jwe, ...(requestId === undefined ? {} : { requestId }) };
}
