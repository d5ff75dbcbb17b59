import specs from '@asyncapi/specs';
import { LIVE_TYPES } from '@parley/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';

import { asyncApiDocument } from './asyncapi.ts';

const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv);
const validate = ajv.compile(specs.schemasWithoutId['3.0.0'] as object);

interface Document {
  components: { messages: Record<string, { payload: Record<string, unknown> }> };
}

test('[LIVE-1] the description of /ws is valid AsyncAPI 3 and names every type of message', () => {
  const document = JSON.parse(JSON.stringify(asyncApiDocument('1.2.3'))) as Document;
  validate(document);
  expect(validate.errors).toBeNull();
  expect(Object.keys(document.components.messages)).toEqual([...LIVE_TYPES]);
});

test('a description with a wrong part is found out', () => {
  const document = { ...asyncApiDocument('1.2.3'), operations: { hear: { action: 'shout' } } };
  expect(validate(JSON.parse(JSON.stringify(document)))).toBe(false);
});

test('the described schemas tell a good message from a bad one', () => {
  const { messages } = (JSON.parse(JSON.stringify(asyncApiDocument('1'))) as Document).components;
  const check = ajv.compile(messages['event']?.payload ?? {});
  const event = {
    id: '550e8400-e29b-41d4-a716-446655440004',
    type: 'event',
    timestamp: '2026-02-11T10:35:00Z',
    source: 'atreides-agent',
    payload: { eventType: 'task_completed', agentId: 'atreides-001', data: {} },
  };
  expect(check(event)).toBe(true);
  expect(check({ ...event, id: 'x' })).toBe(false);
  expect(check({ ...event, payload: { ...event.payload, eventType: 'done' } })).toBe(false);
});
