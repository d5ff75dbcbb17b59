import {
  ENVELOPE_CODE,
  ERROR_CODES,
  type ErrorCode,
  fieldsOf,
  HINTS,
  HTTP_STATUS,
  LIVE_CODE,
} from '@parley/protocol';

import { MEANING, pascal } from '../../packages/hub/src/faces/v1/openapi/errors.ts';
import { describedSurface } from '../../tests/harness/surface.ts';
import { fieldTable, type Schema, table } from './fields.ts';

/** The page of the codes: what each means, what to do, how it reads on each face, and what its details may hold. */
export function errorsPage(): string {
  const { schemas } = describedSurface().openapi['components'] as { schemas: Record<string, Schema> };
  const rows = ERROR_CODES.map((code) => [
    `[\`${code}\`](#${code.toLowerCase()})`,
    String(HTTP_STATUS[code]),
    MEANING[code],
  ]);
  const parts = ERROR_CODES.map((code) => {
    const { properties = {} } = detailsOf(schemas, code) as { properties?: Record<string, Schema> };
    const { hint: _always, ...own } = properties;
    const details =
      Object.keys(own).length === 0 ? [] : ['`details` may hold:', fieldTable({ properties: own }, 'gives')];
    return [
      `## ${code}`,
      `**${MEANING[code]}** HTTP ${HTTP_STATUS[code]}.`,
      `What to do: ${HINTS[code]}.`,
      `On \`/ws\` it is \`${LIVE_CODE[code]}\`, in an envelope \`${ENVELOPE_CODE[code]}\`.`,
      ...details,
      '',
    ].join('\n\n');
  });
  return `# Errors

Written by \`npm run docs\` from the contracts; not for hands.

A refusal on \`/v1\`, and inside a tool error on MCP, always has this form. \`details.hint\` is the next step, in words for
whoever has to take it; \`request_id\` leads to the call in the log of the hub.

\`\`\`json
{
  "error": {
    "code": "NOT_FOUND",
    "message": "there is no such thread",
    "request_id": "req_01M7GQF6P2F92JKG2JHY6B0950",
    "details": { "hint": "${HINTS.NOT_FOUND}" }
  }
}
\`\`\`

${table(['code', 'HTTP', 'means'], rows)}

A call that ended in \`UNAVAILABLE\` or in nothing at all is sent again with the same \`idempotency_key\`: it is never done
twice.

${parts.join('\n')}`;
}

const errorOf = (schemas: Record<string, Schema>, code: ErrorCode): Schema =>
  schemas[`${pascal(code)}Error`] ?? {};

function detailsOf(schemas: Record<string, Schema>, code: ErrorCode): Schema {
  const error = fieldsOf(fieldsOf(errorOf(schemas, code)['properties'])['error']);
  return fieldsOf(fieldsOf(error['properties'])['details']);
}
