import {
  HUB_NAME,
  LIVE_CODES,
  LIVE_PAYLOADS,
  LIVE_TYPES,
  LIVE_VERSIONS,
  type LiveEnding,
  LiveEnvelope,
  type LiveType,
  Opaque,
  Registration,
} from '@parley/protocol';
import * as z from 'zod';

import { type Components, createComponents, type Json } from '../../schema-components.ts';

const SUMMARIES: Record<LiveType, string> = {
  status_request: 'Ask an agent, or the hub, how it is.',
  status_update: 'How an agent is: asked or unasked.',
  command: `Have an agent do something; with target ${HUB_NAME}, the hub: any operation by its name, register_agent (whose parameters are the schema Registration), follow, unfollow, follow_workspace.`,
  command_response: 'The answer to a command; it goes to the asker alone.',
  event: 'Something has happened: kept in the log and shown to all who watch.',
  error: `A refusal. Codes of the hub: ${LIVE_CODES.join(', ')}.`,
};

/** The AsyncAPI 3 description of `/ws`, made from the same schemas that check the messages. */
export function asyncApiDocument(
  version: string,
  address: string,
  endings: readonly LiveEnding[] = [],
): Json {
  const components = createComponents('#/components/schemas/', 'draft-7');
  const [protocol, host] = address.replace(/^http/, 'ws').split('://');
  const messages = Object.fromEntries(LIVE_TYPES.map((type) => [type, messageOf(components, type, endings)]));
  const references = LIVE_TYPES.map((type) => ({ $ref: `#/channels/live/messages/${type}` }));
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'Parley live',
      version,
      description: `Dashboards and agents in live conversation, schema ${LIVE_VERSIONS.join(', ')}. The header Parley-Limits of the handshake tells how much may be sent.`,
      license: { name: 'MIT' },
      // Nobody but the one who runs it answers for a hub; linters want an address all the same.
      contact: { name: 'Whoever runs this hub', url: address, email: 'nobody@parley.invalid' },
      tags: [{ name: 'live', description: 'Status, commands and events as they happen.' }],
    },
    defaultContentType: 'application/json',
    servers: {
      hub: { host, protocol, description: 'this hub', security: [{ $ref: BEARER }, { $ref: TICKET }] },
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
        description: 'Messages that the hub takes: status, commands, their answers, events.',
        messages: references,
      },
      tell: {
        action: 'send',
        channel: { $ref: '#/channels/live' },
        summary: 'What the hub sends.',
        description: 'Answers, commands of others, and what happens to those who are watched.',
        messages: references,
      },
    },
    components: {
      messages,
      schemas: { ...components.all(), Registration: components.inline(Registration, 'input') },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        ticket: { type: 'httpApiKey', name: 'token', in: 'query' },
      },
    },
  };
}

const BEARER = '#/components/securitySchemes/bearer';
const TICKET = '#/components/securitySchemes/ticket';

function messageOf(components: Components, type: LiveType, endings: readonly LiveEnding[]): Json {
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
    payload: components.inline(schema, 'input'),
    ...(type === 'command'
      ? {
          'x-register-agent-parameters': { $ref: '#/components/schemas/Registration' },
          // AsyncAPI has a mark for operations, and to the hub all commands are one.
          ...(endings.length > 0 ? { 'x-deprecated-commands': endings } : {}),
        }
      : {}),
  };
}
