/** Writes the JSON Schema of every action of the envelope into specs/schemas/mcp; refuses a breaking change without a new MAJOR. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { ENVELOPE_ACTIONS, type EnvelopeAction } from '@parley/protocol';

import { actionSchema } from '../packages/hub/src/faces/envelope/capabilities.ts';
import { breakingChanges, majorOf } from './breaking-changes.ts';

const folder = fileURLToPath(new URL('schemas/mcp/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const action of Object.keys(ENVELOPE_ACTIONS) as EnvelopeAction[]) {
  const path = `${folder}${action}.json`;
  const schema = actionSchema(action);
  if (existsSync(path)) {
    const published = JSON.parse(readFileSync(path, 'utf8')) as { title?: unknown };
    const breaks = majorOf(schema) > majorOf(published) ? [] : breakingChanges(published, schema);
    if (breaks.length > 0)
      throw new Error(`${action} breaks its callers; give it a new MAJOR version:\n  ${breaks.join('\n  ')}`);
  }
  writeFileSync(path, `${JSON.stringify(schema, null, 2)}\n`);
}
