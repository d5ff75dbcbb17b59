import { EVENT_KINDS, LIMITS } from '@parley/protocol';

type Json = Record<string, unknown>;

const THREAD = { name: 'thread_id', in: 'path', required: true, schema: { type: 'string' } };

const EVENT: Json = {
  type: 'object',
  required: ['ts', 'thread', 'type', 'from', 'to', 'content', 'meta'],
  properties: {
    id: { type: 'string', description: 'ULID; absent for a presence that is not kept' },
    ts: { type: 'string', format: 'date-time' },
    thread: { type: 'string' },
    type: { enum: EVENT_KINDS },
    from: { type: 'string' },
    to: { type: 'string', description: 'all, or one participant' },
    content: { type: ['string', 'object'] },
    meta: { type: 'object' },
  },
};

/** The paths of the thread events face, whose streams OpenAPI has no words for. */
export function eventPaths(posted: Json, errors: Json): Record<string, Json> {
  const answer = (properties: Json): Json => ({
    '200': {
      description: 'done',
      content: { 'application/json': { schema: { type: 'object', properties } } },
    },
    ...errors,
  });
  return {
    '/v1/threads/{thread_id}/events': {
      get: {
        operationId: 'get_events',
        summary: 'Read a thread’s events',
        parameters: [
          THREAD,
          { name: 'since_seq', in: 'query', schema: { type: 'integer', minimum: 0 } },
          {
            name: 'limit',
            in: 'query',
            schema: { type: 'integer', minimum: 1, default: LIMITS.page_default },
          },
        ],
        responses: answer({
          events: { type: 'array', items: EVENT },
          next_seq: { type: 'integer' },
          has_more: { type: 'boolean' },
        }),
      },
      post: {
        operationId: 'post_event',
        summary: 'Post an event to a thread',
        parameters: [THREAD],
        requestBody: { required: true, content: { 'application/json': { schema: posted } } },
        responses: answer({ event: EVENT, invokes: { type: 'array', items: { type: 'string' } } }),
      },
    },
  };
}
