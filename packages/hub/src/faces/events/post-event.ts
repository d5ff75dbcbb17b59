import { type CallContext, presenceEvent, toEvent } from '@parley/core';
import {
  type Claims,
  type EventKind,
  messageIdOfEvent,
  type NotCalled,
  ParleyError,
  PostedEvent,
  type ThreadEvent,
} from '@parley/protocol';

import type { EventsOptions } from './options.ts';
import { parse } from './parse.ts';

type Input = Record<string, unknown>;
type Operation = 'post_message' | 'control_thread' | 'set_presence' | 'assign_task' | 'report_result';

/** The event that came of what was posted, and whom it calls upon; a presence calls nobody. */
interface Posted {
  event: ThreadEvent;
  called: string[];
  not_called: NotCalled[];
  invokes?: string[];
  expires_at?: string;
}

/** What the operations behind events answer, as far as the poster is told of it. */
interface Said extends Partial<{ [F in keyof Omit<Posted, 'event'>]: Posted[F] | undefined }> {
  seq?: number | undefined;
}

/** Posts one event: its type names the operation, the client's own id is its key. */
export async function postEvent(
  options: EventsOptions,
  claims: Claims,
  threadId: string,
  body: unknown,
  notice: (operation: Operation) => void,
  { request_id, signal, trace }: CallContext,
): Promise<Posted> {
  const posted = parse(PostedEvent, body);
  checkHead(posted, claims, threadId);
  // The table pairs each type with its own call; the compiler sees the union.
  const [operation, input] = (CALLS[posted.type] as (event: PostedEvent) => [Operation, Input])(posted);
  notice(operation);
  const own = { request_id, signal, trace };
  const context: CallContext = posted.id === undefined ? own : { ...own, event_id: posted.id };
  const said: Said = await options.hub.call(claims, operation, { thread_id: threadId, ...input }, context);
  const { called = [], not_called = [], invokes, expires_at, seq } = said;
  return {
    event:
      seq === undefined
        ? passing(options, claims, threadId, posted)
        : await readBack(options, claims, threadId, seq),
    called,
    not_called,
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

type PostedMessage = Extract<PostedEvent, { type: 'message' }>;
type Calls = { [K in EventKind]: (event: Extract<PostedEvent, { type: K }>) => [Operation, Input] };

/** The operation behind each type of event, and what it is given. */
const CALLS: Calls = {
  message({ to, content, meta: { reply_to, tags } = {} }) {
    const reply = reply_to === undefined ? {} : { in_reply_to: messageIdOfEvent(reply_to) };
    const whom = to === undefined ? {} : { to };
    return ['post_message', { schema_version: 1, body: content, ...whom, ...reply, ...tagged(tags) }];
  },
  control: ({ content, ...event }) => [
    'control_thread',
    { ...aside(event), ...(content === undefined ? {} : { control: content }) },
  ],
  presence({ content: { details, ...content }, ...event }) {
    const profile = details === undefined ? {} : { profile: details };
    return ['set_presence', { ...content, ...aside(event), ...profile }];
  },
  task({ to, content, meta: { role, tags } = {} }) {
    return ['assign_task', { body: content, ...(to === undefined ? { role } : { to }), ...tagged(tags) }];
  },
  result({ to, content, meta: { reply_to, task_id, tags } }) {
    const task = messageIdOfEvent(reply_to ?? task_id ?? '');
    const said = typeof content === 'string' ? { body: content } : { output: content };
    return ['report_result', { ...said, task, ...(to === undefined ? {} : { to }), ...tagged(tags) }];
  },
};

/** What goes with a control or a presence as with a message. */
function aside({ to, meta: { reply_to, tags } = {} }: Pick<PostedMessage, 'to' | 'meta'>): Input {
  return {
    ...(to === undefined ? {} : { to }),
    ...(reply_to === undefined ? {} : { in_reply_to: messageIdOfEvent(reply_to) }),
    ...(tags === undefined ? {} : { tags }),
  };
}

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
