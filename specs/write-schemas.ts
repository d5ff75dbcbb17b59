/** Writes the JSON Schema of every action of the envelope into specs/schemas/mcp. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { ENVELOPE_ACTIONS, type EnvelopeAction } from '@parley/protocol';

import { actionSchema } from '../packages/hub/src/faces/envelope/capabilities.ts';

const folder = fileURLToPath(new URL('schemas/mcp/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const action of Object.keys(ENVELOPE_ACTIONS) as EnvelopeAction[])
  writeFileSync(`${folder}${action}.json`, `${JSON.stringify(actionSchema(action), null, 2)}\n`);
