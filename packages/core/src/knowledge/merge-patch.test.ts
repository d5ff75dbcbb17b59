import { expect, test } from 'vitest';

import { mergeUnderMask, type Patchable } from './merge-patch.ts';

const before: Patchable = {
  content: { mime_type: 'text/plain', body: 'old' },
  metadata: { title: 'title', tags: ['a'], deep: { x: 1, y: { z: 2 } }, flat: 7 },
  is_human_readable: true,
};
const merged = (patch: Record<string, unknown>, ...mask: string[]) => mergeUnderMask(before, patch, mask);

test('only what the mask names is changed, and what it was made of stays as it was', () => {
  const kept = structuredClone(before);
  const patch = { content: { body: 'new', mime_type: 'text/markdown' }, is_human_readable: false };
  expect(merged(patch)).toEqual(before);
  expect(merged(patch, 'content.body')).toEqual({ ...before, content: { ...before.content, body: 'new' } });
  expect(merged(patch, 'content.mime_type')).toMatchObject({
    content: { mime_type: 'text/markdown', body: 'old' },
  });
  expect(merged(patch, 'content', 'is_human_readable')).toEqual({ ...before, ...patch });
  const deep = { metadata: { deep: { y: { z: null, w: 3 }, n: 4 } } };
  expect(merged(deep, 'metadata.deep')['metadata']).toMatchObject({ deep: { x: 1, y: { w: 3 }, n: 4 } });
  expect(before).toEqual(kept);
});

test('a field that the mask names and the patch does not, or by null, is removed', () => {
  const metadata = { title: 'title', tags: ['a'], deep: { x: 1, y: { z: 2 } } };
  for (const patch of [{}, { metadata: {} }, { metadata: { flat: null } }, { metadata: null }])
    expect(merged(patch, 'metadata.flat')).toEqual({ ...before, metadata });
  expect(merged({}, 'metadata')).not.toHaveProperty('metadata');
  expect(merged({ metadata: null }, 'metadata')).not.toHaveProperty('metadata');
});

test('lists and plain values take the place of what stood there, objects are merged', () => {
  const set = (value: unknown) =>
    merged({ metadata: { deep: value } }, 'metadata.deep')['metadata'] as { deep: unknown };
  expect(set([1, 2]).deep).toEqual([1, 2]);
  expect(set('text').deep).toBe('text');
  expect(set({ x: { a: 1 } }).deep).toEqual({ x: { a: 1 }, y: { z: 2 } });
  const flat = merged({ metadata: { flat: { a: 1, b: null }, tags: { c: 2 } } }, 'metadata');
  expect(flat['metadata']).toEqual({ ...before.metadata, flat: { a: 1 }, tags: { c: 2 } });
});

test('a name of JavaScript itself is never taken from what an object inherits', () => {
  const metadata = { toString: 'text' };
  expect(merged({ metadata }, 'metadata.toString')['metadata']).toMatchObject({ toString: 'text' });
  expect(Object.hasOwn(merged({}, 'metadata.toString')['metadata'] as object, 'toString')).toBe(false);
  const inner = merged({ metadata: { deep: { valueOf: { a: 1 } } } }, 'metadata.deep');
  expect(inner['metadata']).toMatchObject({ deep: { valueOf: { a: 1 } } });
});

test.each(['__proto__', 'constructor', 'prototype'])('%s is no name of a field, however deep', (name) => {
  const refused = (field: string) =>
    expect.objectContaining({ code: 'VALIDATION_ERROR', details: { field } }) as Error;
  expect(() => merged({}, `metadata.${name}`)).toThrow(refused('update_mask'));
  const deep = JSON.parse(`{"metadata":{"deep":{"y":{"${name}":{}}}}}`) as Record<string, unknown>;
  for (const mask of ['metadata', 'metadata.deep'])
    expect(() => merged(deep, mask)).toThrow(refused('patch'));
});

test('a path that leads nowhere is refused, and so is a part that is no object', () => {
  for (const path of [
    '',
    'title',
    'content.size',
    'metadata.',
    'metadata.a.b',
    'xcontent',
    'contentx',
    'is_human_readable.x',
  ])
    expect(() => merged({}, path), path).toThrow(
      expect.objectContaining({ details: { field: 'update_mask' } }) as Error,
    );
  const long = 'x'.repeat(100);
  expect(() => merged({}, long)).toThrow(`update_mask: "${'x'.repeat(64)}" is no field`);
  for (const inner of ['text', 7, true, ['a']])
    expect(() => merged({ metadata: inner }, 'metadata.flat')).toThrow(
      expect.objectContaining({ details: { field: 'patch.metadata' } }) as Error,
    );
});
