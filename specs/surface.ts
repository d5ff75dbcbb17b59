import { breakingChanges } from './breaking-changes.ts';
import { brokenCommands, type CommandLine } from './surface-commands.ts';

type Schema = Record<string, unknown>;

/** What callers build on: each way to call, what it takes, and what its answer always has. */
export interface Surface {
  operations: Record<
    string,
    { version: string; query?: Record<string, Schema>; takes?: Schema; gives?: Schema; streams?: Schema }
  >;
  tools: Record<string, Schema>;
  /** What is said on `/ws`, by type, in both directions. */
  live: Record<string, Schema>;
  /** The status of each code, of `/v1` and of the envelope. */
  codes: Record<string, number>;
  commands: CommandLine;
}

/** What a surface is made of. */
export interface Described {
  openapi: unknown;
  asyncapi: unknown;
  tools: readonly { name: string; inputSchema: unknown }[];
  codes: Record<string, number>;
  commands: CommandLine;
}

interface Document {
  paths: Record<string, Record<string, Schema>>;
  components: { schemas: Record<string, Schema> };
}

/** The surface of a hub, out of what it says of itself. */
export function surfaceOf({ openapi, asyncapi, tools, codes, commands }: Described): Surface {
  const { paths, components } = openapi as Document;
  const operations: Surface['operations'] = {};
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const { 'x-operation-version': version = '1.0.0', requestBody, responses, parameters } = operation;
      const query = queryIn(parameters, components.schemas);
      const streams = schemaIn((responses as Schema)['200'], components.schemas, 'text/event-stream');
      const takes = schemaIn(requestBody, components.schemas);
      const gives = schemaIn((responses as Schema)['200'], components.schemas);
      operations[`${method.toUpperCase()} ${path}`] = {
        version: String(version),
        ...(query === undefined ? {} : { query }),
        ...(streams === undefined ? {} : { streams }),
        ...(takes === undefined ? {} : { takes }),
        ...(gives === undefined ? {} : { gives }),
      };
    }
  const live = (
    asyncapi as { components: { messages: Record<string, Schema>; schemas: Record<string, Schema> } }
  ).components;
  return {
    operations,
    tools: Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema as Schema])),
    live: Object.fromEntries(
      Object.entries(live.messages).map(([type, { payload }]) => [
        type,
        resolve(payload, live.schemas) as Schema,
      ]),
    ),
    codes,
    commands,
  };
}

/** What a caller who kept to the older surface could no longer do, or would no longer find. */
export function brokenBy(older: Surface, newer: Surface): string[] {
  const found: string[] = [];
  for (const [name, before] of Object.entries(older.operations)) {
    const after = newer.operations[name];
    if (after === undefined) found.push(`${name}: is gone`);
    else if (Number.parseInt(after.version, 10) <= Number.parseInt(before.version, 10)) {
      if (before.takes !== undefined)
        found.push(...breakingChanges(before.takes, after.takes ?? {}, `${name} takes`));
      for (const part of ['gives', 'streams'] as const)
        if (before[part] !== undefined)
          found.push(...lost(before[part], after[part] ?? {}, `${name} ${part}`));
      found.push(...brokenQuery(before.query ?? {}, after.query ?? {}, name));
    }
  }
  for (const [name, before] of Object.entries(older.tools)) {
    const after = newer.tools[name];
    if (after === undefined) found.push(`tool ${name}: is gone`);
    else found.push(...breakingChanges(before, after, `tool ${name}`));
  }
  for (const [type, before] of Object.entries(older.live)) {
    const after = newer.live[type];
    if (after === undefined) found.push(`/ws ${type}: is gone`);
    else
      found.push(
        ...new Set([...breakingChanges(before, after, `/ws ${type}`), ...lost(before, after, `/ws ${type}`)]),
      );
  }
  for (const [code, status] of Object.entries(older.codes))
    if (newer.codes[code] !== status)
      found.push(`code ${code}: was ${status} and is ${newer.codes[code] ?? 'gone'}`);
  return [...found, ...brokenCommands(older.commands, newer.commands)];
}

/** What may stand in the query of a GET. */
function queryIn(parameters: unknown, schemas: Record<string, Schema>): Record<string, Schema> | undefined {
  const list = (parameters ?? []) as { in: string; name: string; required?: boolean; schema: Schema }[];
  const query = list.filter((one) => one.in === 'query');
  if (query.length === 0) return undefined;
  return Object.fromEntries(
    query.map(({ name, required = false, schema }) => [
      name,
      { ...(resolve(schema, schemas) as Schema), ...(required ? { 'x-needed': true } : {}) },
    ]),
  );
}

function brokenQuery(before: Record<string, Schema>, after: Record<string, Schema>, name: string): string[] {
  const found: string[] = [];
  for (const [field, schema] of Object.entries(before)) {
    const now = after[field];
    if (now === undefined) found.push(`${name}: no longer knows ?${field}`);
    else found.push(...breakingChanges(schema, now, `${name} ?${field}`));
  }
  for (const [field, schema] of Object.entries(after))
    if (schema['x-needed'] === true && before[field]?.['x-needed'] !== true)
      found.push(`${name}: now needs ?${field}`);
  return found;
}

/** What an answer always had and has no longer, or has with another type. */
function lost(before: Schema, after: Schema, path: string): string[] {
  const found: string[] = [];
  if (JSON.stringify(before['type']) !== JSON.stringify(after['type'])) return [`${path}: has another type`];
  const always = (after['required'] ?? []) as string[];
  for (const name of (before['required'] ?? []) as string[])
    if (!always.includes(name)) found.push(`${path}: no longer always has ${name}`);
  const fields = (after['properties'] ?? {}) as Record<string, Schema>;
  for (const [name, schema] of Object.entries((before['properties'] ?? {}) as Record<string, Schema>)) {
    const field = fields[name];
    if (field === undefined) found.push(`${path}: no longer knows ${name}`);
    else found.push(...lost(schema, field, `${path}.${name}`));
  }
  const forms = (after['anyOf'] ?? []) as Schema[];
  for (const form of (before['anyOf'] ?? []) as Schema[])
    if (!forms.some((other) => lost(form, other, path).length === 0))
      found.push(`${path}: no longer has one of its forms: ${JSON.stringify(form).slice(0, 80)}`);
  if (before['items'] !== undefined)
    found.push(...lost(before['items'] as Schema, (after['items'] ?? {}) as Schema, `${path}[]`));
  return found;
}

/** The JSON schema inside a body or a response, with its references in place. */
function schemaIn(
  part: unknown,
  schemas: Record<string, Schema>,
  media = 'application/json',
): Schema | undefined {
  const content = (part as { content?: Record<string, { schema?: Schema }> } | undefined)?.content;
  const schema = content?.[media]?.schema;
  return schema === undefined ? undefined : (resolve(schema, schemas) as Schema);
}

function resolve(value: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, schemas));
  if (value === null || typeof value !== 'object') return value;
  const { $ref } = value as { $ref?: unknown };
  if (typeof $ref === 'string') return resolve(schemas[$ref.split('/').at(-1) ?? ''], schemas);
  return Object.fromEntries(
    Object.entries(value)
      // Words for people may change.
      .filter(([key, item]) => !(key === 'description' && typeof item === 'string') && key !== 'examples')
      .map(([key, item]) => [key, resolve(item, schemas)]),
  );
}
