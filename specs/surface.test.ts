import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { surfaceNow } from './described-surface.ts';
import { brokenBy, type Surface } from './surface.ts';

const now = await surfaceNow();

test('nothing that the last release offered is broken', () => {
  const released = JSON.parse(
    readFileSync(new URL('schemas/surface.json', import.meta.url), 'utf8'),
  ) as Surface;
  const sizes = Object.values(released).map((part) => Object.keys(part as object).length);
  // Operations, tools, live messages, codes, commands.
  for (const [i, least] of [100, 70, 6, 30, 60].entries()) expect(sizes[i]).toBeGreaterThanOrEqual(least);
  expect(brokenBy(released, now)).toEqual([]);
});

test('each kind of break is named, and what is only added is none', () => {
  const changed = (change: (surface: Surface) => void): string[] => {
    const later = structuredClone(now);
    change(later);
    return brokenBy(now, later);
  };
  const post = 'POST /v1/post_message';
  type Fields = { properties: Record<string, unknown>; required: string[] };
  const part = (surface: Surface, which: 'takes' | 'gives') =>
    surface.operations[post]?.[which] as unknown as Fields;
  expect(changed((later) => void (part(later, 'gives').properties['more'] = { type: 'string' }))).toEqual([]);
  expect(changed((later) => void (part(later, 'takes').properties['more'] = { type: 'string' }))).toEqual([]);
  expect(changed((later) => void part(later, 'takes').required.push('to'))).toEqual([
    `${post} takes: now needs to`,
  ]);
  expect(changed((later) => void delete part(later, 'gives').properties['seq'])).toEqual([
    `${post} gives: no longer knows seq`,
  ]);
  expect(changed((later) => void delete later.operations[post])).toEqual([`${post}: is gone`]);
  expect(changed((later) => void delete later.tools['whoami'])).toEqual(['tool whoami: is gone']);
  const list = 'GET /v1/threads';
  expect(changed((later) => void delete later.operations[list]?.query?.['limit'])).toEqual([
    `${list}: no longer knows ?limit`,
  ]);
  expect(
    changed((later) => void Object.assign(later.operations[list]?.query?.['limit'] ?? {}, { maximum: 1 })),
  ).toEqual([`${list} ?limit: has a lower maximum`]);
  expect(
    changed(
      (later) => void Object.assign(later.operations[list]?.query ?? {}, { who: { 'x-needed': true } }),
    ),
  ).toEqual([`${list}: now needs ?who`]);
  const shut = (later: Surface) => void Object.assign(part(later, 'takes'), { additionalProperties: false });
  expect(changed(shut)).toEqual([`${post} takes: no longer takes fields that it does not know`]);
  const stream = 'GET /v1/stream';
  expect(changed((later) => void delete later.operations[stream]?.streams)).toEqual([
    expect.stringContaining(`${stream} streams`),
  ]);
  expect(changed((later) => void delete later.live['event'])).toEqual(['/ws event: is gone']);
  type Forms = { properties: { payload: { anyOf: Fields[] } } };
  const payload = (later: Surface) => (later.live['command'] as unknown as Forms).properties.payload;
  expect(changed((later) => void delete payload(later).anyOf[0]?.properties['command'])).toEqual([
    expect.stringContaining('/ws command.payload: no longer takes one of its forms'),
    expect.stringContaining('/ws command.payload: no longer has one of its forms'),
  ]);
  expect(changed((later) => void (later.codes['/v1 CONFLICT'] = 400))).toEqual([
    'code /v1 CONFLICT: was 409 and is 400',
  ]);
  const command = (later: Surface) => later.commands['parley post'] ?? { options: [], needs: [], takes: 0 };
  expect(changed((later) => void delete later.commands['parley thread new'])).toEqual([
    'parley thread new: is gone',
  ]);
  const without = (later: Surface) => {
    command(later).options = command(later).options.filter((flags) => !flags.includes('--event'));
  };
  expect(changed(without)).toEqual(['parley post: no longer knows --event']);
  expect(changed((later) => void command(later).needs.push('more'))).toEqual(['parley post: now needs more']);
  expect(changed((later) => void command(later).options.push('--more'))).toEqual([]);
  expect(
    changed((later) => {
      part(later, 'takes').required.push('to');
      const operation = later.operations[post];
      if (operation !== undefined) operation.version = '2.0.0';
    }),
  ).toEqual([]);
});
