import type { Tool } from '@modelcontextprotocol/server';
import { type Contract, CONTRACTS, fieldsOf } from '@parley/protocol';
import * as z from 'zod';

/** Which tools a client sees; all operations can be called under either. */
export type Profile = 'essential' | 'full';

type Json = Record<string, unknown>;

/**
 * The tool list, the same bytes for every caller: sorted by name and made of contracts alone. There is no output
 * schema: clients check structured content against it even when it is an error envelope, and it would cost context.
 */
export function listTools(profile: Profile): Tool[] {
  const contracts: Contract[] = Object.values(CONTRACTS);
  return contracts
    .filter(({ essential }) => essential || profile === 'full')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, title, description, input, annotations, unlisted = [] }) => ({
      name,
      title,
      description,
      inputSchema: inputSchema(input, profile === 'full' ? [] : unlisted),
      annotations,
    }));
}

function inputSchema(input: z.ZodType, unlisted: readonly string[]): Tool['inputSchema'] {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  const listed = Object.entries(schema.properties ?? {}).filter(([name]) => !unlisted.includes(name));
  const properties = schema.properties === undefined ? {} : { properties: Object.fromEntries(listed) };
  // The input of every operation is an object.
  return compact({ ...schema, ...properties }) as Tool['inputSchema'];
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
  'x-max-bytes',
]);

function compact(schema: Json): Json {
  const kept = Object.entries(schema).filter(([key, value]) => !NOISE.has(key) && !isEmpty(value));
  const { properties, items, anyOf, ...rest } = Object.fromEntries(kept);
  return {
    ...rest,
    ...(anyOf === undefined ? {} : { anyOf: Array.isArray(anyOf) ? anyOf.map(compact) : anyOf }),
    ...(properties === undefined ? {} : { properties: mapValues(fieldsOf(properties)) }),
    ...(items === undefined ? {} : { items: compact(fieldsOf(items)) }),
  };
}

/** What the instructions of the server say once for all tools. */
const TOLD_ONCE: Record<string, Json> = { idempotency_key: { type: 'string' } };

function mapValues(properties: Json): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, TOLD_ONCE[name] ?? compact(fieldsOf(schema))]),
  );
}

function isEmpty(value: unknown): boolean {
  return value !== null && typeof value === 'object' && Object.keys(value).length === 0;
}
