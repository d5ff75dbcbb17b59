import specs from '@asyncapi/specs';
import { LIVE_TYPES } from '@parley/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';

import { asyncApiDocument } from './asyncapi.ts';

const ADDRESS = 'http://127.0.0.1:8620';
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv);
const validate = ajv.compile(specs.schemasWithoutId['3.1.0'] as object);

interface Document {
  components: { messages: Record<string, { payload: Record<string, unknown> }> };
}

test('[LIVE-1] the description of /ws is valid AsyncAPI 3 and names every type of message', () => {
  const endings = [
    { operation: 'whoami', announcedAt: '2026-01-01T00:00:00Z', endsAt: '2027-01-01T00:00:00Z' },
  ];
  const document = JSON.parse(JSON.stringify(asyncApiDocument('1.2.3', ADDRESS, endings))) as Document;
  validate(document);
  expect(validate.errors).toBeNull();
  expect(Object.keys(document.components.messages)).toEqual([...LIVE_TYPES]);
});

test('a description with a wrong part is found out', () => {
  const document = { ...asyncApiDocument('1.2.3', ADDRESS), operations: { hear: { action: 'shout' } } };
  expect(validate(JSON.parse(JSON.stringify(document)))).toBe(false);
});

test('the described schemas tell a good message from a bad one', () => {
  const document = JSON.parse(JSON.stringify(asyncApiDocument('1', ADDRESS))) as Document;
  ajv.addSchema(document, 'live');
  const check = ajv.compile({ $ref: 'live#/components/messages/event/payload' });
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
