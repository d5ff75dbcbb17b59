import { readdirSync, readFileSync } from 'node:fs';

import { ENVELOPE_ACTIONS, type EnvelopeAction } from '@parley/protocol';
import { expect, test } from 'vitest';

import { actionSchema } from '../packages/hub/src/faces/envelope/capabilities.ts';
import { breakingChanges, majorOf } from './breaking-changes.ts';

const schema = {
  title: 'knowledge.move 1.4.2',
  type: 'object',
  required: ['a'],
  properties: {
    a: { type: 'string', maxLength: 10, enum: ['x', 'y'] },
    b: { type: 'object', properties: { c: { type: 'array', items: { type: 'integer', minimum: 1 } } } },
  },
};
const changed = (change: (copy: typeof schema) => void): typeof schema => {
  const copy = structuredClone(schema);
  change(copy);
  return copy;
};

test('[KNOW-26] what would stop a caller is a breaking change, what gives him more is not', () => {
  expect(breakingChanges(schema, schema)).toEqual([]);
  const wider = changed(({ properties }) => {
    Object.assign(properties, { d: { type: 'string' } });
    properties.a.maxLength = 20;
    properties.a.enum.push('z');
    properties.b.properties.c.items.minimum = 0;
  });
  expect(breakingChanges(schema, wider)).toEqual([]);
  expect(breakingChanges(wider, schema)).toEqual([
    'args.a: has a lower maxLength',
    'args.a: no longer takes "z"',
    'args.b.c[]: has a higher minimum',
    'args: no longer knows d',
  ]);
  expect(
    breakingChanges(
      schema,
      changed((copy) => copy.required.push('b')),
    ),
  ).toEqual(['args: now needs b']);
  const otherType = changed(({ properties }) => (properties.a.type = 'number'));
  expect(breakingChanges(schema, otherType)).toEqual(['args.a: has another type']);
  expect(majorOf(schema)).toBe(1);
});

/** The schemas of the last release: what callers were given, whatever was written since. */
const baseline = new URL('schemas/baseline/', import.meta.url);
const released = readdirSync(baseline).map((file) => file.replace(/\.json$/, ''));

test.each(released)('[KNOW-26] %s breaks nothing that was released, or has a higher MAJOR', (action) => {
  expect(Object.keys(ENVELOPE_ACTIONS)).toContain(action);
  const published = JSON.parse(readFileSync(new URL(`${action}.json`, baseline), 'utf8')) as {
    title: string;
  };
  const now = JSON.parse(JSON.stringify(actionSchema(action as EnvelopeAction))) as { title: string };
  const breaks = majorOf(now) > majorOf(published) ? [] : breakingChanges(published, now);
  expect(breaks).toEqual([]);
});

test('[KNOW-26] the baseline holds every action of the last release', () => {
  expect(released.length).toBeGreaterThanOrEqual(18);
});
