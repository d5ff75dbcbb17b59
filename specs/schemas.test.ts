import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { CONTRACTS, ENVELOPE_ACTIONS, type EnvelopeAction } from '@parley/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';

import { actionSchema } from '../packages/hub/src/faces/envelope/capabilities.ts';

const folder = fileURLToPath(new URL('schemas/mcp/', import.meta.url));
const actions = Object.keys(ENVELOPE_ACTIONS) as EnvelopeAction[];

test('[KNOW-18] the published schemas are those that check the calls; npm run schemas writes them anew', () => {
  expect(readdirSync(folder).toSorted()).toEqual(actions.map((action) => `${action}.json`).toSorted());
  for (const action of actions)
    expect(JSON.parse(readFileSync(`${folder}${action}.json`, 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(actionSchema(action))),
    );
});

const id = '6f1c2d3e-0000-4000-8000-000000000001';
const page = {
  document_id: id,
  parent_id: 'root',
  content: { mime_type: 'text/plain', body: '' },
  metadata: { title: 'x' },
};

test.each([
  ['knowledge.create_document', page, true],
  ['knowledge.create_document', { ...page, document_id: 'no-uuid' }, false],
  ['knowledge.create_document', { ...page, content: { mime_type: 'text/html', body: '' } }, false],
  ['knowledge.create_document', { ...page, metadata: {} }, false],
  ['knowledge.update_document', { document_id: id, patch: {}, update_mask: ['metadata.tags'] }, true],
  ['knowledge.update_document', { document_id: id, patch: {}, update_mask: [] }, false],
  ['knowledge.move_document', { document_id: id, new_parent_id: 'root', position: { ordering: -1 } }, false],
  ['knowledge.delete_document', { document_id: id, delete_at: 'tomorrow' }, false],
  ['registry.heartbeat', { status: 'well' }, false],
] as const)('[KNOW-18] the schema of %s judges %j as the hub does', (action, args, valid) => {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  expect(ajv.compile(actionSchema(action))(args)).toBe(valid);
  expect(CONTRACTS[ENVELOPE_ACTIONS[action]].input.safeParse(args).success).toBe(valid);
});
