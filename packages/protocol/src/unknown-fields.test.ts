import { expect, test } from 'vitest';

import { CONTRACTS } from './contracts.ts';
import { tellUnknown, unknownFields } from './unknown-fields.ts';

const ID = '6f1e9c52-70a1-4bd0-9d3f-0b9a7c1f2e11';

const tell = (name: keyof typeof CONTRACTS, input: object): string[] => {
  const { input: schema } = CONTRACTS[name];
  return tellUnknown(schema, unknownFields(input, schema.parse(input)));
};

test.each([
  ['read_messages', { thread_id: 't', since: 3 }, ['since: is not known here; did you mean since_seq?']],
  [
    'read_messages',
    { thread_id: 't', sinceSeq: 3 },
    ['sinceSeq: is not known here; did you mean since_seq?'],
  ],
  [
    'raise_ask',
    { prompt: 'x', expire_in_ms: 9 },
    ['expire_in_ms: is not known here; did you mean expires_in_ms?'],
  ],
  ['raise_ask', { prompt: 'x', severity: 'high' }, ['severity: is not known here']],
  [
    'list_threads',
    { x: 1, untread: true },
    ['x: is not known here', 'untread: is not known here; did you mean unread?'],
  ],
  // At any depth, and in lists.
  [
    'move_document',
    { document_id: ID, new_parent_id: 'root', position: { befor: 'a' } },
    ['position.befor: is not known here; did you mean position.before?'],
  ],
  [
    'query_knowledge',
    { query: 'q', routing: { max_latency: 1 } },
    ['routing.max_latency: is not known here; did you mean routing.max_latency_ms?'],
  ],
  // What is kept as it was sent has no unknown fields.
  [
    'post_message',
    { thread_id: 't', schema_version: 1, body: 'x', metadata: { anything: { at: ['all'] } } },
    [],
  ],
  ['set_quiet', { quiet: true, hours: undefined }, []],
] as const)('%s %j', (name, input, expected) => {
  expect(tell(name, input)).toEqual(expected);
});

test('a long list of them is cut, and so are their names', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${'z'.repeat(200)}${i}`, i]));
  const reported = tell('list_threads', many);
  expect(reported).toHaveLength(10);
  expect(reported[0]?.length).toBeLessThan(100);
});
