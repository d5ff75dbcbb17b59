import { type CallContext, presenceEvent, toEvent } from '@parley/core';
import {
  type Claims,
  type EventKind,
  messageIdOfEvent,
  type OperationName,
  ParleyError,
  PostedEvent,
  type ThreadEvent,
} from '@parley/protocol';

import type { EventsOptions } from './face.ts';
import { parse } from './parse.ts';

type Input = Record<string, unknown>;

/** The event that came of what was posted, and whom it calls upon. */
interface Posted {
  event: ThreadEvent;
  invokes?: unknown;
  expires_at?: unknown;
}

/** Posts one event: its type names the operation, the client's own id is its key. */
export async function postEvent(
  options: EventsOptions,
  claims: Claims,
  threadId: string,
  body: unknown,
  { request_id, signal, trace }: CallContext,
): Promise<Posted> {
  const posted = parse(PostedEvent, body);
  checkHead(posted, claims, threadId);
  const [operation, input] = (CALLS[posted.type] as (event: PostedEvent) => [OperationName, Input])(posted);
  const own = { request_id, signal, trace };
  const context: CallContext = posted.id === undefined ? own : { ...own, event_id: posted.id };
  const result = await options.hub.call(claims, operation, { thread_id: threadId, ...input }, context);
  const { invokes, expires_at, seq } = result;
  return {
    event:
      typeof seq === 'number'
        ? await readBack(options, claims, threadId, seq)
        : passing(options, claims, threadId, posted),
    ...(invokes === undefined ? {} : { invokes }),
    ...(expires_at === undefined ? {} : { expires_at }),
  };
}

function checkHead({ thread, from }: PostedEvent, claims: Claims, threadId: string): void {
  if (thread !== undefined && thread !== threadId)
    throw new ParleyError('VALIDATION_ERROR', 'thread: differs from the path', { field: 'thread' });
  if (from !== undefined && from !== claims.agent_id)
    throw new ParleyError('CLAIM_MISMATCH', 'from differs from the verified agent_id', { field: 'from' });
}

type Calls = { [K in EventKind]: (event: Extract<PostedEvent, { type: K }>) => [OperationName, Input] };

/** The operation behind each type of event, and what it is given. */
const CALLS: Calls = {
  message({ to, content, meta: { reply_to, tags } = {} }) {
    const reply = reply_to === undefined ? {} : { in_reply_to: messageIdOfEvent(reply_to) };
    const whom = to === undefined ? {} : { to };
    return ['post_message', { schema_version: 1, body: content, ...whom, ...reply, ...tagged(tags) }];
  },
  control: ({ content }) => ['control_thread', { control: content }],
  presence({ content: { details, ...content } }) {
    return ['set_presence', { ...content, ...(details === undefined ? {} : { profile: details }) }];
  },
  task({ to, content, meta: { role, tags } = {} }) {
    return ['assign_task', { body: content, ...(to === undefined ? { role } : { to }), ...tagged(tags) }];
  },
  result({ content, meta: { reply_to, task_id, tags } }) {
    const task = messageIdOfEvent(reply_to ?? task_id ?? '');
    return ['report_result', { body: content, task, ...tagged(tags) }];
  },
};

function tagged(tags: readonly string[] | undefined): Input {
  return tags === undefined ? {} : { metadata: { tags } };
}

async function readBack(
  { log }: EventsOptions,
  claims: Claims,
  thread_id: string,
  seq: number,
): Promise<ThreadEvent> {
  const { workspace_id } = claims;
  const { entries } = await log.read({ workspace_id, thread_id, after: seq - 1, limit: 1, max_bytes: 1 });
  const entry = entries[0];
  if (entry === undefined) throw new Error(`${thread_id} has no entry ${seq} that was just acknowledged`);
  return toEvent(entry);
}

/** A presence that was not written down. */
function passing(
  { presence, now }: EventsOptions,
  claims: Claims,
  thread_id: string,
  posted: PostedEvent,
): ThreadEvent {
  const { agent_id, workspace_id } = claims;
  const held = presence.of(thread_id).get(agent_id);
  const state = posted.type === 'presence' ? posted.content.state : 'offline';
  return presenceEvent(
    held?.state === state ? held : { thread_id, agent_id, workspace_id, state, since: now() },
  );
}
