/** TypeScript types out of the named schemas of an OpenAPI document. */

type Schema = Record<string, unknown>;

const HOME = '#/components/schemas/';

/** A declaration for each named schema. */
export function typesOf(schemas: Record<string, Schema>): string {
  return Object.entries(schemas)
    .map(([name, schema]) => `${comment(schema, '')}export type ${name} = ${typeOf(schema, '')};\n`)
    .join('\n');
}

/** The type of one schema. */
function typeOf(schema: Schema, indent: string): string {
  const { $ref, type } = schema;
  if (typeof $ref === 'string') return $ref.slice(HOME.length);
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  const { enum: values } = schema as { enum?: unknown[] };
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (choices !== undefined) return choices.map((choice) => nested(choice, indent)).join(' | ');
  const { allOf } = schema as { allOf?: Schema[] };
  if (allOf !== undefined) return allOf.map((part) => nested(part, indent)).join(' & ');
  if (Array.isArray(type))
    return type.map((one: string) => typeOf({ ...schema, type: one }, indent)).join(' | ');
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `${nested((schema['items'] ?? {}) as Schema, indent)}[]`;
    case 'object':
      return objectOf(schema, indent);
    default:
      return 'unknown';
  }
}

function nested(schema: Schema, indent: string): string {
  const text = typeOf(schema, indent);
  return text.includes(' | ') || text.includes(' & ') ? `(${text})` : text;
}

function objectOf(schema: Schema, indent: string): string {
  const { properties, required = [] } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  const { additionalProperties } = schema;
  if (properties === undefined)
    return `Record<string, ${
      additionalProperties !== null && typeof additionalProperties === 'object'
        ? typeOf(additionalProperties as Schema, indent)
        : 'unknown'
    }>`;
  const deeper = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(field, deeper)}${deeper}${/^\w+$/.test(name) ? name : JSON.stringify(name)}${mark}: ${typeOf(field, deeper)};\n`;
  });
  return fields.length === 0 ? 'Record<string, unknown>' : `{\n${fields.join('')}${indent}}`;
}

function comment({ description }: Schema, indent: string): string {
  return typeof description === 'string' ? `${indent}/** ${description.replaceAll('*/', '* /')} */\n` : '';
}
