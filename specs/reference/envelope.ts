import {
  type Contract,
  CONTRACTS,
  ENVELOPE_ACTIONS,
  ENVELOPE_CODES,
  ENVELOPE_STATUS,
  ENVELOPE_VERSIONS,
  entriesOf,
} from '@parley/protocol';

import { actionSchema, envelopeSchema } from '../../packages/hub/src/faces/envelope/capabilities.ts';
import { tagOf } from '../../packages/hub/src/faces/v1/openapi/tags.ts';
import { fieldTable, table } from './fields.ts';
import { whoMay } from './who-may.ts';

/** The page of the envelope: its own fields, and each action with its arguments. */
export function envelopePage(): string {
  const parts = entriesOf(ENVELOPE_ACTIONS).map(([action, operation]) => {
    const contract: Contract = CONTRACTS[operation];
    return [
      `## ${action}`,
      contract.description,
      `Version ${contract.version}. Who may: ${whoMay(operation)}. The answer's \`data\` is what [\`${operation}\`](${tagOf(operation)}.md#${operation}) gives.`,
      fieldTable(actionSchema(action), 'takes'),
      '',
    ].join('\n\n');
  });
  const codes = ENVELOPE_CODES.map((code) => [`\`${code}\``, String(ENVELOPE_STATUS[code])]);
  return `# Envelope ${ENVELOPE_VERSIONS.join(', ')}

Written by \`npm run docs\` from the contracts; not for hands.

A service sends an envelope to \`POST /mcp/envelope\`, and the action in it is carried out once. How, with a first one to
paste, stands on the page of the [envelope face](../faces/envelope.md). The roles \`owner\`, \`editor\`, \`agent\` and \`viewer\`
are operator, orchestrator, worker and observer.

## The envelope

Every field is needed but those of the payload, of which there are \`args\`, or \`artifact_uri\` with \`artifact_hash\`.

${fieldTable(envelopeSchema(), 'takes')}

## Codes

${table(['code', 'HTTP'], codes)}

${parts.join('\n')}`;
}
