import { ParleyError, fieldsOf } from '@parley/protocol';
import * as z from 'zod';

const typesBySchema = new WeakMap<z.ZodType, Record<string, string | undefined>>();

/** A query string as input: numbers and booleans where the schema wants them, a repeated name refused. */
export function readQuery(schema: z.ZodType, query: string): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (Object.hasOwn(input, name) || name === '__proto__') {
      throw new ParleyError('VALIDATION_ERROR', `${name.slice(0, 64)}: stands twice in the query`, {
        field: name.slice(0, 64),
      });
    }
    input[name] = fromText(typesOf(schema)[name], value);
  }
  return input;
}

function fromText(type: string | undefined, value: string): unknown {
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?(e\d+)?$/i.test(value))
    return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function typesOf(schema: z.ZodType): Record<string, string | undefined> {
  let types = typesBySchema.get(schema);
  if (types === undefined) {
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    types = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, typeOf(property)]),
    );
    typesBySchema.set(schema, types);
  }
  return types;
}

function typeOf(property: unknown): string | undefined {
  const { type } = fieldsOf(property);
  return typeof type === 'string' ? type : undefined;
}
