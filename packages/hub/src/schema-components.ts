import * as z from 'zod';

/** A part of a JSON document. */
export type Json = Record<string, unknown>;

/** Which side of a schema is described: what may be sent, or what is answered. */
type Side = 'input' | 'output';

/** The named schemas of a description: each stands once, whoever refers to it. */
export interface Components {
  /** The schema itself, whose named parts are references. */
  inline(schema: z.ZodType, side: Side): Json;
  /** A reference to the schema under this name. */
  named(name: string, schema: z.ZodType | Json, side?: Side): Json;
  /** All that was named, by name. */
  all(): Record<string, Json>;
}

/** Collects schemas where a document keeps them, such as `#/components/schemas/`. */
export function createComponents(home: string, target?: 'draft-7'): Components {
  const byName = new Map<string, Json>();
  const sources = new Map<string, z.ZodType>();

  function keep(name: string, schema: Json): void {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, schema);
    else if (JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas have the name ${name}`);
  }

  function inline(schema: z.ZodType, side: Side): Json {
    const json = z.toJSONSchema(schema, {
      io: side,
      unrepresentable: 'any',
      reused: 'inline',
      ...(target === undefined ? {} : { target }),
      // A schema is an object of plain data.
      override: ({ jsonSchema }) => tidy(jsonSchema as Json, side),
      // A schema is an object of plain data.
    }) as Json;
    const { $schema: _dialect, $defs, definitions, ...rest } = json;
    // As zod writes them: a schema for each name.
    const parts = ($defs ?? definitions ?? {}) as Record<string, Json>;
    const nameOf = (part: string): string => {
      const differs = side === 'input' && byName.has(part) && !isSame(byName.get(part), refer(parts[part]));
      return differs ? `${part}Input` : part;
    };
    const refer = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(refer);
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          key,
          key === '$ref' && typeof item === 'string' ? `${home}${item.split('/').at(-1)}` : refer(item),
        ]),
      );
    };
    const renamed = Object.keys(parts).filter((part) => nameOf(part) !== part);
    const settle = (value: unknown): Json => {
      let text = JSON.stringify(refer(value));
      for (const part of renamed) text = text.replaceAll(`"${home}${part}"`, `"${home}${part}Input"`);
      // The text of an object, just written.
      return JSON.parse(text) as Json;
    };
    for (const [part, body] of Object.entries(parts)) keep(nameOf(part), settle(body));
    return settle(rest);
  }

  return {
    inline,
    named(name, schema, side = 'output') {
      if (!(schema instanceof z.ZodType)) keep(name, schema);
      else if (sources.get(name) !== schema) {
        keep(name, inline(schema, side));
        sources.set(name, schema);
      }
      return { $ref: `${home}${name}` };
    },
    all: () => Object.fromEntries([...byName].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/**
 * What is said of one schema, never of a property that happens to have the same name: its id is the name it stands
 * under, a format says what its pattern would, and answers are open to fields that come later.
 */
function tidy(schema: Json, side: Side): void {
  delete schema['id'];
  if (schema['format'] !== undefined) delete schema['pattern'];
  // An empty object as the default of one whose fields have theirs says nothing, and does not fit its own schema.
  if (JSON.stringify(schema['default']) === '{}') delete schema['default'];
  if (side === 'output' && schema['additionalProperties'] === false) delete schema['additionalProperties'];
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
