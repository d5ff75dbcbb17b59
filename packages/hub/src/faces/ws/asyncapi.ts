import {
  HUB_NAME,
  LIVE_CODES,
  LIVE_PAYLOADS,
  LIVE_TYPES,
  LIVE_VERSIONS,
  LiveEnvelope,
  type LiveType,
  Opaque,
} from '@parley/protocol';
import { z } from 'zod';

type Json = Record<string, unknown>;

const SUMMARIES: Record<LiveType, string> = {
  status_request: 'Ask an agent, or the hub, how it is.',
  status_update: 'How an agent is: asked or unasked.',
  command: `Have an agent do something; with target ${HUB_NAME}, the hub.`,
  command_response: 'The answer to a command; it goes to the asker alone.',
  event: 'Something has happened: kept in the log and shown to all who watch.',
  error: `A refusal. Codes of the hub: ${LIVE_CODES.join(', ')}.`,
};

/** The AsyncAPI 3 description of `/ws`, made from the same schemas that check the messages. */
export function asyncApiDocument(version: string): Json {
  const messages = Object.fromEntries(LIVE_TYPES.map((type) => [type, messageOf(type)]));
  const references = LIVE_TYPES.map((type) => ({ $ref: `#/channels/live/messages/${type}` }));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Parley live',
      version,
      description: `Dashboards and agents in live conversation, schema ${LIVE_VERSIONS.join(', ')}.`,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      hub: { host: '127.0.0.1:8620', protocol: 'ws', security: [{ $ref: BEARER }, { $ref: TICKET }] },
    },
    channels: {
      live: {
        address: '/ws',
        title: 'The live channel',
        messages: Object.fromEntries(
          LIVE_TYPES.map((type) => [type, { $ref: `#/components/messages/${type}` }]),
        ),
        bindings: {
          ws: {
            method: 'GET',
            query: {
              type: 'object',
              properties: {
                version: { type: 'string', pattern: '^1(\\.\\d+)?$', default: LIVE_VERSIONS[0] },
                token: { type: 'string', description: 'a single-use ticket of POST /v1/ws_ticket' },
              },
            },
          },
        },
      },
    },
    operations: {
      hear: {
        action: 'receive',
        channel: { $ref: '#/channels/live' },
        summary: 'What a client sends.',
        messages: references,
      },
      tell: {
        action: 'send',
        channel: { $ref: '#/channels/live' },
        summary: 'What the hub sends.',
        messages: references,
      },
    },
    components: {
      messages,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        ticket: { type: 'httpApiKey', name: 'token', in: 'query' },
      },
    },
  };
}

const BEARER = '#/components/securitySchemes/bearer';
const TICKET = '#/components/securitySchemes/ticket';

function messageOf(type: LiveType): Json {
  const payload = LIVE_PAYLOADS[type];
  const schema = LiveEnvelope.extend({
    type: z.literal(type),
    payload: type === 'status_request' ? payload : z.union([payload, Opaque]),
  });
  return {
    name: type,
    title: type,
    summary: SUMMARIES[type],
    contentType: 'application/json',
    payload: schemaOf(schema),
  };
}

function schemaOf(schema: z.ZodType): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-7',
    reused: 'inline',
  });
  return inline(json, (json as { definitions?: Json }).definitions ?? {}) as Json;
}

/** Definitions stand in the schema itself, so that it can be moved anywhere in the document. */
function inline(value: unknown, definitions: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => inline(item, definitions));
  if (value === null || typeof value !== 'object') return value;
  const { $ref, definitions: _definitions, id: _id, ...rest } = value as Json;
  const name = typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : '';
  if (Object.hasOwn(definitions, name))
    return inline({ ...(definitions[name] as Json), ...rest }, definitions);
  const kept = _id !== null && typeof _id === 'object' ? { id: _id, ...rest } : rest;
  return Object.fromEntries(Object.entries(kept).map(([key, item]) => [key, inline(item, definitions)]));
}
