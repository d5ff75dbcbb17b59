import { readdirSync, readFileSync } from 'node:fs';

import {
  type Caller,
  CONTRACTS,
  entriesOf,
  ENVELOPE_ACTION_NAMES,
  ERROR_CODES,
  keysOf,
  LIVE_TYPES,
  type OperationName,
  ParleyError,
  Role,
} from '@parley/protocol';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';

import { createProgram as createProxyProgram } from '../packages/codex-proxy/src/cli/program.ts';
import { openSampleHub, type SampleHub } from '../packages/core/src/sample-hub.ts';
import { openMemoryStore } from '../packages/core/src/store-memory.ts';
import { createProgram } from '../packages/hub/src/cli/program.ts';
import { referencePages } from './reference/pages.ts';
import { rolesOf } from './reference/who-may.ts';
import { commandsOf } from './surface-commands.ts';

const folder = new URL('../docs/reference/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const headings = (text: string): string[] => [...text.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);

describe('the reference', () => {
  let pages: Record<string, string> = {};
  beforeAll(async () => {
    pages = await referencePages();
  });

  test('is what the contracts say; if not: npm run docs', () => {
    expect(readdirSync(folder).toSorted()).toEqual(Object.keys(pages).toSorted());
    for (const [name, text] of Object.entries(pages)) expect(read(name), name).toBe(text);
  });

  test('has an entry for every operation, code, message, action and command', async () => {
    const all = Object.values(pages).flatMap(headings);
    const commands = { ...commandsOf(await createProgram()), ...commandsOf(createProxyProgram()) };
    const { parley: _program, ...verbs } = commands;
    const wanted = [
      ...Object.keys(CONTRACTS),
      ...ERROR_CODES,
      ...LIVE_TYPES,
      ...ENVELOPE_ACTION_NAMES,
      ...Object.keys(verbs),
    ];
    expect(wanted.filter((name) => !all.includes(name))).toEqual([]);
    const cli = read('cli.md');
    for (const [words, { options }] of Object.entries(verbs)) {
      const entry = cli.split(`\n## ${words}\n`)[1]?.split('\n## ')[0] ?? '';
      const isShared = (flags: string): boolean => /^--(url|token-file|as|role|workspace) /.test(flags);
      for (const flags of options)
        expect(isShared(flags) ? cli : entry, `${words} ${flags}`).toContain(`\`${flags}\``);
    }
  });

  test('names every field of every operation', () => {
    for (const [name, contract] of entriesOf(CONTRACTS)) {
      const page = Object.values(pages).find(
        (text) => text.includes(`\n## ${name}\n`) && text.includes('- **Call:**'),
      );
      const entry = page?.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
      for (const field of Object.keys((contract.input as z.ZodObject).shape))
        expect(entry, name).toContain(`| \`${field}\` |`);
      for (const field of Object.keys((contract.output as z.ZodObject).shape))
        expect(entry, name).toContain(`| \`${field}\` |`);
    }
  });
});

describe('who may call', () => {
  // An ask of another is hidden from those who may not answer it.
  const refusing = (name: string): string[] => [
    'FORBIDDEN',
    'INSUFFICIENT_AUTHORITY',
    ...(name === 'answer_ask' ? ['NOT_FOUND'] : []),
  ];

  test.each(keysOf(CONTRACTS))('%s is as the rules have it', async (name) => {
    const allowed: string[] = [];
    for (const role of Role.options) {
      const { call, deps } = openSampleHub(openMemoryStore(), { now: Date.parse('2030-01-01T00:00:00Z') });
      const caller: Caller = { agent_id: 'me', workspace_id: 'default', role, session_id: 'me-1' };
      const input = { ...leastInput(name), ...(name === 'answer_ask' ? { ask_id: await askOf(call) } : {}) };
      const refusal = await call(caller, name, input, AbortSignal.timeout(50)).then(
        () => undefined,
        (error: unknown) => error,
      );
      deps.asks.close();
      if (refusal instanceof ParleyError) expect(refusal.code, refusal.message).not.toBe('VALIDATION_ERROR');
      const isRefused = refusal instanceof ParleyError && refusing(name).includes(refusal.code);
      if (!isRefused) allowed.push(role);
    }
    expect(allowed).toEqual(rolesOf(name));
  });
});

/** What each operation takes at the least, where a schema alone does not say it. */
const GIVEN: Record<string, unknown> = {
  of_agent: 'me',
  participant: 'me',
  control: { leave: true },
  timeout_ms: 10,
  native_session_id: '5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a03',
  to: 'me',
  output: {},
  mime_type: 'text/plain',
  origin: 'http://localhost',
  target: { url: 'https://desk.example/', p256dh: 'me', auth: 'me' },
};

/** An ask that waits: who may answer is decided where there is one. */
async function askOf(call: SampleHub['call']): Promise<string> {
  const bob: Caller = { agent_id: 'bob', workspace_id: 'default', role: 'worker', session_id: 'bob-1' };
  const { ask } = (await call(bob, 'raise_ask', { prompt: 'May I?' })) as { ask: { ask_id: string } };
  return ask.ask_id;
}

/** An input that the contract takes. */
function leastInput(name: OperationName): object {
  const { properties = {}, required = [] } = z.toJSONSchema(CONTRACTS[name].input, {
    io: 'input',
    unrepresentable: 'any',
  }) as unknown as Shape;
  const fields = new Set([...required, ...Object.keys(properties).filter((field) => field in GIVEN)]);
  return Object.fromEntries(
    [...fields].map((field) => [field, GIVEN[field] ?? sample(properties[field] ?? {})]),
  );
}

interface Shape {
  type?: string;
  format?: string;
  pattern?: string;
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  minItems?: number;
  items?: Shape;
  anyOf?: Shape[];
  oneOf?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
}

function sample(schema: Shape): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [form] = schema.anyOf ?? schema.oneOf ?? [];
  if (form !== undefined) return sample(form);
  if (schema.type === 'object')
    return Object.fromEntries(
      (schema.required ?? []).map((field) => [field, sample(schema.properties?.[field] ?? {})]),
    );
  if (schema.type === 'array') return (schema.minItems ?? 0) > 0 ? [sample(schema.items ?? {})] : [];
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(schema.minimum ?? 1, 1);
  if (schema.type === 'boolean') return true;
  if (schema.format === 'uuid') return '5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a03';
  if (schema.format === 'date-time') return '2029-12-31T00:00:00Z';
  if (schema.pattern?.includes('{64}') === true) return 'a'.repeat(64);
  return 'me';
}
