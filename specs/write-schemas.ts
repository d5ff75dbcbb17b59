/**
 * Writes the JSON Schema of every action of the envelope into specs/schemas/mcp; refuses what breaks the last release
 * without a new MAJOR. With `--release` they become the baseline that later ones are held against.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { ENVELOPE_ACTIONS, type EnvelopeAction } from '@parley/protocol';

import { actionSchema } from '../packages/hub/src/faces/envelope/capabilities.ts';
import { breakingChanges, majorOf } from './breaking-changes.ts';
import { surfaceNow } from './described-surface.ts';

const folder = fileURLToPath(new URL('schemas/mcp/', import.meta.url));
const baseline = fileURLToPath(new URL('schemas/baseline/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const action of Object.keys(ENVELOPE_ACTIONS) as EnvelopeAction[]) {
  const released = `${baseline}${action}.json`;
  const schema = actionSchema(action);
  if (existsSync(released)) {
    const published = JSON.parse(readFileSync(released, 'utf8')) as { title?: unknown };
    const breaks = majorOf(schema) > majorOf(published) ? [] : breakingChanges(published, schema);
    if (breaks.length > 0)
      throw new Error(`${action} breaks its callers; give it a new MAJOR version:\n  ${breaks.join('\n  ')}`);
  }
  writeFileSync(`${folder}${action}.json`, `${JSON.stringify(schema, null, 2)}\n`);
}
// As the check of the format wants them.
execFileSync(fileURLToPath(new URL('../node_modules/.bin/oxfmt', import.meta.url)), [folder]);
if (process.argv.includes('--release')) {
  rmSync(baseline, { recursive: true, force: true });
  cpSync(folder, baseline, { recursive: true });
  const surface = new URL('schemas/surface.json', import.meta.url);
  writeFileSync(surface, `${JSON.stringify(await surfaceNow())}\n`);
}
