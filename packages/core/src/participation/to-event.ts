import { eventIdOf, type EventKind, type ThreadEvent } from '@parley/protocol';

import type { Entry, EntryType } from '../entry.ts';
import type { Presence } from './presence.ts';

interface Form {
  type: EventKind;
  content: (entry: Entry) => unknown;
}

const speech = (type: EventKind): Form => ({ type, content: ({ body }) => body });

/** What the hub itself put on record is a control whose one verb is the entry's own type. */
const reported: Form = { type: 'control', content: ({ type, metadata = {} }) => ({ [type]: metadata }) };

/** How what callers say looks as an event; all else is the hub's own report. */
const SPOKEN: Partial<Record<EntryType, Form>> = {
  message: speech('message'),
  task: speech('task'),
  result: { type: 'result', content: ({ body, metadata }) => metadata?.['output'] ?? body },
  control: { type: 'control', content: ({ metadata }) => metadata?.['control'] },
  presence: {
    type: 'presence',
    content: ({ metadata }) => ({ state: metadata?.['state'], transition: metadata?.['transition'] }),
  },
};

/** A log entry as an event: the same thing that the other faces show as a message. */
export function toEvent(entry: Entry): ThreadEvent {
  const form = SPOKEN[entry.type] ?? reported;
  const content = form.content(entry);
  return {
    id: eventIdOf(entry.message_id),
    ts: entry.created_at,
    thread: entry.thread_id,
    type: form.type,
    from: entry.sender_agent_id,
    to: entry.to ?? 'all',
    ...(content === undefined ? {} : { content }),
    meta: metaOf(entry),
  };
}

/** A presence that stands in no log, as an event without an id. */
export function presenceEvent(presence: Presence): ThreadEvent {
  const { thread_id, agent_id, state, since, profile, to = 'all', in_reply_to, tags } = presence;
  return {
    ts: new Date(since).toISOString(),
    thread: thread_id,
    type: 'presence',
    from: agent_id,
    to,
    content: { state, ...(profile === undefined ? {} : { details: profile }) },
    meta: {
      ...(in_reply_to === undefined ? {} : { reply_to: eventIdOf(in_reply_to) }),
      ...(tags === undefined ? {} : { tags }),
    },
  };
}

/** What callers may put tags on. */
const TAGGED: ReadonlySet<EntryType> = new Set(['message', 'task', 'result', 'control', 'presence']);

function metaOf(entry: Entry): ThreadEvent['meta'] {
  const { seq, kind, in_reply_to, human, called, not_called } = entry;
  const spoken = entry.type === 'message' || entry.type === 'task' || entry.type === 'result';
  const metadata = spoken ? { ...entry.metadata } : {};
  const tags = TAGGED.has(entry.type) ? entry.metadata?.['tags'] : undefined;
  if (isTags(tags)) delete metadata['tags'];
  if (entry.type === 'result') delete metadata['output'];
  const role = entry.type === 'task' ? metadata['role'] : undefined;
  return {
    seq,
    kind,
    ...(in_reply_to === undefined ? {} : { reply_to: eventIdOf(in_reply_to) }),
    ...(isTags(tags) ? { tags } : {}),
    ...(human === undefined ? {} : { human }),
    ...(typeof role === 'string' ? { role } : {}),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(called === undefined ? {} : { called }),
    ...(not_called === undefined ? {} : { not_called }),
  };
}

function isTags(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string');
}
