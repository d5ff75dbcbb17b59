import { eventIdOf, type EventKind, type ThreadEvent } from '@parley/protocol';

import type { Entry, EntryType } from '../entry.ts';
import type { Presence } from './presence.ts';

interface Form {
  type: EventKind;
  content: (entry: Entry) => unknown;
}

const speech = (type: EventKind): Form => ({ type, content: ({ body }) => body });

/** What the hub itself put on record is a control whose one verb is the entry's own type. */
const told: Form = { type: 'control', content: ({ type, metadata = {} }) => ({ [type]: metadata }) };

/** How each type of entry looks as an event. */
const FORMS = {
  message: speech('message'),
  task: speech('task'),
  result: speech('result'),
  control: { type: 'control', content: ({ metadata }) => metadata?.['control'] },
  presence: {
    type: 'presence',
    content: ({ metadata }) => ({ state: metadata?.['state'], transition: metadata?.['transition'] }),
  },
  'thread.created': told,
  'thread.status': told,
  'thread.renamed': told,
  'side.opened': told,
  'side.closed': told,
  'agent.registered': told,
  'agent.command': told,
  'agent.response': told,
  'agent.wake': told,
  'agent.quiet': told,
  'agent.leave': told,
  'ask.raised': told,
  'ask.answered': told,
  'ask.resolved': told,
  'document.created': told,
  'document.updated': told,
  'document.moved': told,
  'document.deleted': told,
  'document.restored': told,
  'document.reverted': told,
  'tree.ordered': told,
  'tree.purged': told,
  deprecation: told,
  'delivery.dead': told,
  'delivery.redriven': told,
  'artifact.created': told,
} as const satisfies Record<EntryType, Form>;

/** A log entry as an event: the same thing that the other faces show as a message. */
export function toEvent(entry: Entry): ThreadEvent {
  const form: Form = FORMS[entry.type];
  return {
    id: eventIdOf(entry.message_id),
    ts: entry.created_at,
    thread: entry.thread_id,
    type: form.type,
    from: entry.sender_agent_id,
    to: entry.to ?? 'all',
    content: form.content(entry),
    meta: metaOf(entry),
  };
}

/** A presence that stands in no log, as an event without an id. */
export function presenceEvent({ thread_id, agent_id, state, since, profile }: Presence): ThreadEvent {
  return {
    ts: new Date(since).toISOString(),
    thread: thread_id,
    type: 'presence',
    from: agent_id,
    to: 'all',
    content: { state, ...(profile === undefined ? {} : { details: profile }) },
    meta: {},
  };
}

function metaOf(entry: Entry): ThreadEvent['meta'] {
  const { seq, kind, in_reply_to, human } = entry;
  const spoken = entry.type === 'message' || entry.type === 'task' || entry.type === 'result';
  const metadata = spoken ? { ...entry.metadata } : {};
  const { tags } = metadata;
  if (isTags(tags)) delete metadata['tags'];
  const role = entry.type === 'task' ? metadata['role'] : undefined;
  return {
    seq,
    kind,
    ...(in_reply_to === undefined ? {} : { reply_to: eventIdOf(in_reply_to) }),
    ...(isTags(tags) ? { tags } : {}),
    ...(human === undefined ? {} : { human }),
    ...(typeof role === 'string' ? { role } : {}),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

function isTags(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string');
}
