import {
  CONTRACTS,
  Envelope,
  ENVELOPE_STATUS,
  ERROR_CODES,
  type ErrorCode,
  HTTP_STATUS,
  LIMITS,
  LIVE_PAYLOADS,
  LIVE_TYPES,
  LIVE_HTTP_STATUS,
  LiveEnvelope,
  fieldsOf,
} from '@parley/protocol';
import * as z from 'zod';

import type { Json } from '../../../schema-components.ts';
import { describe, type Writing } from './describe.ts';
import { errorBody, errorResponse, errorResponses, headers } from './errors.ts';
import { streamResponse } from './event-paths.ts';

/** What any request may meet before the hub looks for a token. */
const DOOR = ['VALIDATION_ERROR', 'FORBIDDEN', 'UNAVAILABLE'] as const satisfies readonly ErrorCode[];

const GATE: readonly ErrorCode[] = [...DOOR, 'UNAUTHORIZED', 'RATE_LIMITED', 'INTERNAL'];

/** Every path that no operation brings: bytes, the live channel without a socket, the envelope, the hub's own state. */
export function otherPaths(writing: Writing): Record<string, Json> {
  return {
    '/v1/artifacts': { post: upload(writing) },
    ...livePaths(writing),
    ...envelopePaths(writing),
    ...ownPaths(writing),
  };
}

/** The bytes of an artifact as they are; the rest of its input stands in the query. */
function upload(writing: Writing): Json {
  const text = { type: 'string' };
  return {
    ...describe(writing, CONTRACTS.put_artifact, 'upload_artifact', true, { refusesBytes: true }),
    summary: 'Upload an artifact',
    description:
      'The bytes as they are, however many; the rest of the input of put_artifact stands in the query.',
    parameters: [
      { name: 'name', in: 'query', required: true, schema: text },
      { name: 'sha256', in: 'query', description: 'bytes with another one are refused', schema: text },
      { name: 'Idempotency-Key', in: 'header', schema: text },
    ],
    requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
  };
}

function livePaths({ components, responses }: Writing): Record<string, Json> {
  const messages = LIVE_TYPES.map((type) =>
    components.named(
      `Live${type
        .split('_')
        .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
        .join('')}`,
      LiveEnvelope.extend({ type: z.literal(type), payload: LIVE_PAYLOADS[type] }),
      'input',
    ),
  );
  const message = components.named('LiveMessage', { anyOf: messages });
  const anyError = components.named('AnyError', {
    type: 'object',
    ...errorBody({ enum: ERROR_CODES }),
  });
  const refusal = (status: number): Json => ({
    description: 'A message of type error, or a refusal of the gate.',
    headers: headers('X-Request-Id', ...(status === 429 ? ['Retry-After'] : [])),
    content: { 'application/json': { schema: { anyOf: [message, anyError] } } },
  });
  const refusals = Object.fromEntries(
    [...new Set([...Object.values(LIVE_HTTP_STATUS), 413, 415, 502])].map((status) => [
      String(status),
      refusal(status),
    ]),
  );
  const gate = (...codes: ErrorCode[]): Json =>
    errorResponses(components, responses, [...GATE, ...codes], { hasBody: false });
  return {
    '/v1/ws_ticket': {
      post: {
        operationId: 'issue_ws_ticket',
        tags: ['streams'],
        summary: 'Get a ticket for /ws',
        description: 'A word that opens one WebSocket, once and soon: what a browser may put into a URL.',
        responses: {
          '200': {
            description: 'Done.',
            headers: headers('X-Request-Id'),
            content: {
              'application/json': {
                schema: components.named('WsTicket', {
                  type: 'object',
                  required: ['ticket', 'expires_in_ms', 'expires_at'],
                  properties: {
                    ticket: { type: 'string' },
                    expires_in_ms: { type: 'integer' },
                    expires_at: { type: 'string', format: 'date-time' },
                  },
                }),
              },
            },
          },
          ...gate(),
        },
      },
    },
    '/v1/live/messages': {
      post: {
        operationId: 'send_live_message',
        tags: ['streams'],
        summary: 'Say something on the live channel',
        description: 'One message of /ws without a socket; a command or a status request is answered here.',
        requestBody: { required: true, content: { 'application/json': { schema: message } } },
        responses: {
          '200': {
            description: 'The answer.',
            headers: headers('X-Request-Id'),
            content: { 'application/json': { schema: message } },
          },
          '202': {
            description: 'Taken; nobody answers such a message.',
            headers: headers('X-Request-Id'),
            content: {
              'application/json': {
                schema: { type: 'object', required: ['accepted'], properties: { accepted: { const: true } } },
              },
            },
          },
          ...gate(),
          ...refusals,
        },
      },
      get: {
        operationId: 'receive_live_messages',
        tags: ['streams'],
        summary: 'Hear the live channel',
        description: 'What came for you after a cursor, by long poll or as server-sent events.',
        parameters: [
          {
            name: 'after',
            in: 'query',
            description: 'the cursor of the last answer',
            schema: { type: 'string' },
          },
          {
            name: 'wait_ms',
            in: 'query',
            description: 'how long to wait for the first',
            schema: { type: 'integer', minimum: 0, maximum: LIMITS.wait_max_ms, default: 30_000 },
          },
        ],
        responses: {
          '200': {
            description: 'What came; as server-sent events the schema of the data is that of one message.',
            headers: headers('X-Request-Id'),
            content: {
              'application/json': {
                schema: components.named('LiveMessages', {
                  type: 'object',
                  required: ['messages', 'after'],
                  properties: { messages: { type: 'array', items: message }, after: { type: 'string' } },
                }),
              },
              ...fieldsOf(streamResponse('', message)['content']),
            },
          },
          ...gate('CONFLICT'),
        },
      },
    },
  };
}

function envelopePaths({ components }: Writing): Record<string, Json> {
  const said = { request_id: { type: 'string' }, correlation_id: { type: 'string' } };
  const done = components.named('EnvelopeResult', {
    type: 'object',
    required: ['ok', 'data', 'usage'],
    properties: {
      ok: { const: true },
      data: { type: 'object', description: 'the result of the operation behind the action' },
      usage: {
        type: 'object',
        required: ['latency_ms', 'qdrant_hits'],
        properties: { latency_ms: { type: 'integer' }, qdrant_hits: { type: 'integer' } },
      },
      ...said,
    },
  });
  const refused = components.named('EnvelopeRefusal', {
    type: 'object',
    required: ['ok', 'error'],
    properties: {
      ok: { const: false },
      error: {
        type: 'object',
        required: ['code', 'message', 'details'],
        properties: {
          code: { type: 'string', enum: Object.keys(ENVELOPE_STATUS) },
          message: { type: 'string' },
          details: {
            type: 'object',
            required: ['hint', 'trace_id'],
            properties: { hint: { type: 'string' }, trace_id: { type: 'string' } },
          },
        },
      },
      ...said,
    },
  });
  const answer = (description: string, schema: Json, ...more: string[]): Json => ({
    description,
    headers: headers('X-Request-Id', ...more),
    content: { 'application/json': { schema } },
  });
  const refusals = Object.fromEntries(
    Object.entries(ENVELOPE_STATUS).map(([code, status]) => [
      String(status),
      answer(
        `${code}; what to do about it stands in details.hint.`,
        refused,
        ...(status === 429 ? ['Retry-After'] : []),
      ),
    ]),
  );
  return {
    '/v1/envelope': {
      post: {
        operationId: 'send_envelope',
        tags: ['envelope'],
        summary: 'Send an envelope',
        description:
          'Envelope v2.2, also at /mcp/envelope. /schemas/mcp/envelope.json is its schema, GET /v1/capabilities lists the actions, /schemas/mcp/<action>.json describes the arguments of each.',
        parameters: [
          {
            name: 'Prefer',
            in: 'header',
            description: 'respond-async: accepted now, carried out later',
            schema: { type: 'string' },
          },
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: components.named('Envelope', Envelope, 'input') } },
        },
        responses: {
          '200': answer('Carried out.', done, 'Deprecation', 'Sunset'),
          '202': answer('Accepted for later.', done, 'Deprecation', 'Sunset'),
          ...refusals,
        },
      },
    },
    '/v1/capabilities': {
      get: {
        operationId: 'capabilities',
        tags: ['envelope'],
        summary: 'What the envelope understands',
        description: 'Versions, actions and their limits; needs no token.',
        security: [],
        responses: {
          '200': answer(
            'The versions and the actions.',
            components.named('Capabilities', {
              type: 'object',
              required: ['envelope_versions', 'actions', 'transports'],
              properties: {
                envelope_versions: { type: 'array', items: { type: 'string' } },
                actions: {
                  type: 'array',
                  items: {
                    type: 'object',
                    required: ['action', 'action_version', 'max_payload_bytes', 'max_concurrent'],
                    properties: {
                      action: { type: 'string' },
                      action_version: { type: 'string' },
                      max_payload_bytes: { type: 'integer' },
                      max_concurrent: { type: 'integer' },
                      deprecated: {
                        type: 'object',
                        required: ['ends_at'],
                        properties: { ends_at: { type: 'string' }, use: { type: 'string' } },
                      },
                    },
                  },
                },
                transports: { type: 'array', items: { type: 'string' } },
              },
            }),
          ),
          ...Object.fromEntries(
            DOOR.map((code) => String(HTTP_STATUS[code])).map((status) => [status, refusals[status]]),
          ),
        },
      },
    },
  };
}

function ownPaths({ components, responses }: Writing): Record<string, Json> {
  const health = components.named('Health', {
    type: 'object',
    required: ['ok'],
    properties: {
      ok: { type: 'boolean', description: 'the hub takes writes' },
      degraded: {
        type: 'array',
        items: { enum: ['bus'] },
        description:
          'what it does without; `bus`: this node hears the others by looking at the log, each second',
      },
    },
  });
  const door = errorResponses(components, responses, DOOR, { hasBody: false });
  const stopping = errorResponse(components, ['UNAVAILABLE']);
  const { schema: stops } = fieldsOf(fieldsOf(stopping['content'])['application/json']);
  const description = (operationId: string, summary: string): Json => ({
    get: {
      operationId,
      tags: ['hub'],
      summary,
      description: 'Needs no token; comes compressed where that is asked for, and with a tag to keep it by.',
      security: [],
      responses: {
        '200': {
          description: 'The description.',
          headers: headers('X-Request-Id', 'ETag'),
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        '304': { description: 'It is still the one whose tag you sent.' },
        ...door,
      },
    },
  });
  return {
    '/healthz': {
      get: {
        operationId: 'healthz',
        tags: ['hub'],
        summary: 'Is it well?',
        description:
          'Says whether the hub takes writes, and what a node of several does without meanwhile; needs no token.',
        security: [],
        responses: {
          ...door,
          '200': {
            description: 'It takes writes.',
            headers: headers('X-Request-Id'),
            content: { 'application/json': { schema: health } },
          },
          '503': {
            description: 'It takes none, or is stopping.',
            headers: headers('X-Request-Id'),
            content: { 'application/json': { schema: { anyOf: [health, stops] } } },
          },
        },
      },
    },
    '/v1/openapi.json': description('openapi', 'This description'),
    '/v1/asyncapi.json': description('asyncapi', 'The description of /ws'),
  };
}
