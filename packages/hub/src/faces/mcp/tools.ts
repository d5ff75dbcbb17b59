import type { Tool } from '@modelcontextprotocol/server';
import { type Contract, CONTRACTS } from '@parley/protocol';
import { z } from 'zod';

/** Which tools a client sees; all operations can be called under either. */
export type Profile = 'essential' | 'full';

type Json = Record<string, unknown>;

/**
 * The tool list, the same bytes for every caller: sorted by name and made of contracts alone. There is no output
 * schema: clients check structured content against it even when it is an error envelope, and it would cost context.
 */
export function listTools(profile: Profile): Tool[] {
  return (Object.values(CONTRACTS) as Contract[])
    .filter(({ essential }) => essential || profile === 'full')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, title, description, input, annotations }) => ({
      name,
      title,
      description,
      inputSchema: inputSchema(input),
      annotations,
    }));
}

function inputSchema(input: z.ZodType): Tool['inputSchema'] {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  return compact(schema) as Tool['inputSchema'];
}

/** What a model cannot use: the gate says the same in a sentence when it matters. */
const NOISE = new Set([
  '$schema',
  'minLength',
  'maxLength',
  'maxItems',
  'minimum',
  'maximum',
  'pattern',
  'propertyNames',
  'additionalProperties',
]);

function compact(schema: Json): Json {
  const kept = Object.entries(schema).filter(([key, value]) => !NOISE.has(key) && !isEmpty(value));
  const { properties, items, anyOf, ...rest } = Object.fromEntries(kept);
  return {
    ...rest,
    ...(anyOf === undefined ? {} : { anyOf: (anyOf as Json[]).map(compact) }),
    ...(properties === undefined ? {} : { properties: mapValues(properties as Record<string, Json>) }),
    ...(items === undefined ? {} : { items: compact(items as Json) }),
  };
}

/** What the instructions of the server say once for all tools. */
const TOLD_ONCE: Record<string, Json> = { idempotency_key: { type: 'string' } };

function mapValues(properties: Record<string, Json>): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, TOLD_ONCE[name] ?? compact(schema)]),
  );
}

function isEmpty(value: unknown): boolean {
  return value !== null && typeof value === 'object' && Object.keys(value).length === 0;
}
