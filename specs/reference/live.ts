import { HUB_NAME, LIVE_CODES, LIVE_HTTP_STATUS, LIVE_TYPES, LIVE_VERSIONS } from '@parley/protocol';

import { describedSurface } from '../../tests/harness/surface.ts';
import { EXAMPLES } from '../../tests/ws/examples.ts';
import { fieldTable, type Schema, table } from './fields.ts';

interface Message {
  summary: string;
  payload: { properties: Record<string, Schema>; required: string[] };
}

/** The page of `/ws`: the words around every message, each type, the registration, the codes. */
export function livePage(): string {
  const { components } = describedSurface().asyncapi as {
    components: { messages: Record<string, Message>; schemas: Record<string, Schema> };
  };
  const { messages, schemas } = components;
  const [first] = Object.values(messages);
  const { payload: _payload, type: _type, ...around } = first?.payload.properties ?? {};
  const type = { type: 'string', enum: [...LIVE_TYPES], description: 'what the payload is' };
  const { id, ...rest } = around;
  const envelope = {
    required: ['id', 'type', 'timestamp', 'source'],
    properties: { id: id ?? {}, type, ...rest, payload: { description: 'by the type, below' } },
  };
  const parts = LIVE_TYPES.map((name) => typePart(name, messages[name]));
  const codes = LIVE_CODES.map((code) => [`\`${code}\``, String(LIVE_HTTP_STATUS[code])]);
  return `# Messages on /ws

Written by \`npm run docs\` from the contracts; not for hands.

Each message is a text frame with one JSON object, schema ${LIVE_VERSIONS.join(', ')}. How to connect, and what the hub does
with each, stands on the page of the [WebSocket face](../faces/websocket.md). The hub itself is called \`${HUB_NAME}\`.

## Around every message

${fieldTable(envelope, 'takes')}

${parts.join('\n')}
## Sealed payloads

Instead of the payload of its type a message may carry one that only its two ends can read.

${fieldTable(schemas['Opaque'] ?? {}, 'takes')}

## register_agent

The parameters of the command \`register_agent\` to \`${HUB_NAME}\`.

${fieldTable(schemas['Registration'] ?? {}, 'takes')}

Every [operation](operations.md) is a command to \`${HUB_NAME}\` too, with its fields as \`parameters\`.

## Codes

The seven words for trouble, with the status under which the HTTP fallback answers. What each means stands on the page of the
[WebSocket face](../faces/websocket.md#errors).

${table(['code', 'HTTP'], codes)}
`;
}

function typePart(name: keyof typeof EXAMPLES, message: Message | undefined): string {
  const payload = message?.payload.properties['payload'] ?? {};
  const [plain = payload] = (payload['anyOf'] ?? []) as Schema[];
  return `## ${name}\n\n${message?.summary ?? ''}\n\n${fieldTable(plain, 'takes')}\n\n\`\`\`json\n${EXAMPLES[name]}\n\`\`\`\n`;
}
