import { type ErrorCode, EVENT_KINDS, LIMITS, NotCalled, PostedEvent } from '@parley/protocol';

import type { Json } from '../../../schema-components.ts';
import { errorResponses, headers } from './errors.ts';
import type { Writing } from './describe.ts';

const THREAD = {
  name: 'thread_id',
  in: 'path',
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: 128 },
};

/** Where a stream goes on that was broken off. */
const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'the id of the last event that you have seen',
  schema: { type: 'string' },
};

const EVENT: Json = {
  type: 'object',
  description: 'What happened in a thread, in the words of the events face.',
  required: ['ts', 'thread', 'type', 'from', 'to', 'meta'],
  properties: {
    id: { type: 'string', description: 'ULID; absent for a presence that is not kept' },
    ts: { type: 'string', format: 'date-time' },
    thread: { type: 'string' },
    type: { type: 'string', enum: EVENT_KINDS },
    from: { type: 'string' },
    to: { type: 'string', description: 'all, or one participant' },
    content: { description: 'a text, or an object; absent where a control has none' },
    meta: { type: 'object' },
  },
};

const REFUSALS: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'OUT_OF_SCOPE_WORKSPACE',
  'INSUFFICIENT_AUTHORITY',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

/** What is answered on a stream: the schema is that of the data of each event. */
export function streamResponse(description: string, schema: Json): Json {
  return {
    description: `${description} The schema is that of the data of each event.`,
    headers: headers('X-Request-Id'),
    content: { 'text/event-stream': { schema } },
  };
}

/** The paths of the thread events face and the streams of a thread and of the workspace. */
export function eventPaths({ components, responses }: Writing): Record<string, Json> {
  const event = components.named('ThreadEvent', EVENT);
  const names: Json = { type: 'array', items: { type: 'string' } };
  const refuse = (hasBody: boolean, ...codes: ErrorCode[]): Json =>
    errorResponses(components, responses, [...REFUSALS, ...codes], { hasBody });
  const answer = (name: string, properties: Json, required: string[]): Json => ({
    '200': {
      description: 'Done.',
      headers: headers('X-Request-Id'),
      content: {
        'application/json': { schema: components.named(name, { type: 'object', required, properties }) },
      },
    },
  });
  return {
    '/v1/threads/{thread_id}/events': {
      get: {
        operationId: 'thread_events',
        tags: ['threads'],
        summary: 'Read a thread’s events',
        description: 'The entries of a thread in order, in the words of the events face.',
        parameters: [
          THREAD,
          {
            name: 'since_seq',
            in: 'query',
            description: 'only what follows it; left out, the thread’s making is an event too',
            schema: { type: 'integer', minimum: 0 },
          },
          {
            name: 'limit',
            in: 'query',
            description: `page size; more than ${LIMITS.page_max} counts as ${LIMITS.page_max}`,
            schema: { type: 'integer', minimum: 1, default: LIMITS.page_default },
          },
        ],
        responses: {
          ...answer(
            'ThreadEventsResult',
            {
              events: { type: 'array', items: event },
              next_seq: { type: 'integer' },
              has_more: { type: 'boolean' },
            },
            ['events', 'next_seq', 'has_more'],
          ),
          ...refuse(false, 'NOT_FOUND'),
        },
      },
      post: {
        operationId: 'post_event',
        tags: ['threads'],
        summary: 'Post an event to a thread',
        description: 'A message, a control, a presence, a task or a result, in one envelope.',
        parameters: [THREAD],
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: components.named('PostEventInput', PostedEvent, 'input') },
          },
        },
        responses: {
          ...answer(
            'PostEventResult',
            {
              event,
              called: names,
              not_called: { type: 'array', items: components.inline(NotCalled, 'output') },
              invokes: names,
            },
            ['event'],
          ),
          ...refuse(true, 'NOT_FOUND', 'CONFLICT', 'IDEMPOTENCY_CONFLICT', 'CLAIM_MISMATCH'),
        },
      },
    },
    '/v1/threads/{thread_id}/stream': {
      get: {
        operationId: 'stream_thread',
        tags: ['streams'],
        summary: 'Follow a thread',
        description: 'The events of a thread as they happen, and who is present.',
        parameters: [
          THREAD,
          {
            name: 'since_seq',
            in: 'query',
            description: 'first what follows this seq, then each as it happens',
            schema: { type: 'integer', minimum: 0 },
          },
          LAST_EVENT_ID,
        ],
        responses: {
          '200': streamResponse('Events until one side ends.', event),
          ...refuse(false, 'NOT_FOUND'),
        },
      },
    },
    '/v1/stream': {
      get: {
        operationId: 'stream_workspace',
        tags: ['streams'],
        summary: 'Follow the workspace',
        description: 'What happens in all threads that you may see, by position in the log of the workspace.',
        parameters: [
          {
            name: 'after',
            in: 'query',
            description: 'a position, or the id of an event; left out: from now on',
            schema: { type: 'string', pattern: '^w?\\d{1,15}$' },
          },
          LAST_EVENT_ID,
        ],
        responses: {
          '200': streamResponse(
            'First the event hello with the position it begins after, then messages.',
            components.named('Happening', {
              type: 'object',
              properties: { pos: { type: 'integer' }, event },
            }),
          ),
          ...refuse(false),
        },
      },
    },
  };
}
