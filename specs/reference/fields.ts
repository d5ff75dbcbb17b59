/** A JSON Schema, as plain data. */
export type Schema = Record<string, unknown>;

/** One line of a table of fields. */
interface Field {
  name: string;
  type: string;
  needed: boolean;
  meaning: string;
}

/** Patterns that a person knows under a word. */
const PATTERNS: Record<string, string> = {
  '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$': 'name',
  '^[0-9a-f]{64}$': '64 hex digits',
  '^(sha256:)?[0-9a-f]{64}$': '64 hex digits, after `sha256:` if you like',
  '^(?:[01]\\d|2[0-3]):[0-5]\\d$': 'time of day, such as `22:00`',
  '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$': 'UUID',
  '^[\\w-]*\\.[\\w-]*\\.[\\w-]*\\.[\\w-]*\\.[\\w-]*$': 'compact JWE',
  '^[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}._-]{0,63}$': 'one word, at most 64 characters',
};

/** Made of parts that stand on a page of their own, under this address. */
const TYPES_PAGE = 'types.md';

/** A table of what an object holds, or a sentence where it holds nothing. */
export function fieldTable(schema: Schema, kind: 'takes' | 'gives'): string {
  const fields = fieldsIn(schema, '');
  if (fields.length === 0) return kind === 'takes' ? 'Takes no fields.' : 'Gives no fields.';
  const title = kind === 'takes' ? 'field' : 'gives';
  return table(
    [title, 'type', kind === 'takes' ? 'needed' : 'always', 'what it is'],
    fields.map(({ name, type, needed, meaning }) => [`\`${name}\``, type, needed ? 'yes' : '', meaning]),
  );
}

/** A Markdown table whose cells hold no bar of their own. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** The anchor of a type on the page of types. */
function typeLink(name: string): string {
  return `[${name}](${TYPES_PAGE}#${name.toLowerCase()})`;
}

function fieldsIn(schema: Schema, before: string): Field[] {
  const required = (schema['required'] ?? []) as string[];
  return Object.entries((schema['properties'] ?? {}) as Record<string, Schema>).flatMap(([name, field]) => {
    const whole = before + name;
    const own: Field = {
      name: whole,
      type: typeOf(field),
      needed: required.includes(name),
      meaning: meaningOf(field),
    };
    return [own, ...inside(field, whole)];
  });
}

/** What an object or the items of a list hold, where it has no name of its own. */
function inside(field: Schema, name: string): Field[] {
  const forms = formsOf(field);
  return forms.flatMap((form) => {
    if (form['type'] === 'array') return inside((form['items'] ?? {}) as Schema, `${name}[]`);
    return form['properties'] === undefined ? [] : fieldsIn(form, `${name}.`);
  });
}

/** The forms that a field may have; what only says which of its own fields go together is none. */
function formsOf(field: Schema): Schema[] {
  if (field['properties'] !== undefined) return [field];
  return (field['anyOf'] ?? field['oneOf'] ?? field['allOf'] ?? [field]) as Schema[];
}

/** A value as one types it: a word without its quotes. */
const valueWord = (value: unknown): string =>
  `\`${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}\``;

function meaningOf(field: Schema): string {
  const parts = [typeof field['description'] === 'string' ? field['description'] : ''];
  if (field['default'] !== undefined) parts.push(`default ${valueWord(field['default'])}`);
  return parts.filter((part) => part !== '').join('; ');
}

/** The type of a field in words. */
export function typeOf(schema: Schema): string {
  const { $ref, type, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') return typeLink($ref.split('/').at(-1) ?? '');
  if (schema['const'] !== undefined) return valueWord(schema['const']);
  if (Array.isArray(schema['enum'])) return schema['enum'].map(valueWord).join(', ');
  if (Array.isArray(type)) return either(type.map((one: unknown) => ({ ...schema, type: one })));
  if (schema['properties'] !== undefined) return 'object';
  if (anyOf !== undefined || oneOf !== undefined) return either(formsOf(schema));
  if (allOf !== undefined) return 'object';
  if (type === 'array') return listOf(schema);
  if (type === 'string') return textOf(schema);
  if (type === 'integer' || type === 'number') return numberOf(schema, type);
  if (type === 'boolean') return '`true`, `false`';
  if (type === 'null') return '`null`';
  return type === 'object' ? 'object' : 'any JSON';
}

function either(forms: Schema[]): string {
  const types = [...new Set(forms.map(typeOf))];
  const joined = types.every((one) => one.startsWith('`')) ? ', ' : ' or ';
  return types.join(joined);
}

function listOf({ items, minItems, maxItems }: Schema): string {
  const bounds = between(minItems, maxItems, '');
  return `list${bounds === '' ? '' : ` (${bounds})`} of ${typeOf((items ?? {}) as Schema)}`;
}

function textOf(schema: Schema): string {
  const { format, pattern, minLength, maxLength } = schema;
  if (format === 'date-time') return 'time (ISO 8601)';
  if (format === 'uuid') return 'UUID';
  if (format === 'uri') return 'URL';
  const bytes = schema['x-max-bytes'];
  if (bytes !== undefined) return `text, at most ${grouped(bytes)} bytes`;
  if (schema['contentEncoding'] === 'base64' || format === 'base64') return 'base64';
  if (typeof pattern === 'string' && PATTERNS[pattern] !== undefined) return PATTERNS[pattern];
  if (typeof pattern === 'string') return `text like \`${pattern}\``;
  if (maxLength !== undefined) return `text, ${between(minLength, maxLength, 'characters')}`;
  return 'text';
}

function numberOf({ minimum, maximum }: Schema, type: 'integer' | 'number'): string {
  const bounds = between(bound(minimum), bound(maximum), '');
  const word = type === 'integer' ? 'whole number' : 'number';
  return bounds === '' ? word : `${word}, ${bounds}`;
}

/** The largest numbers there are say nothing. */
const bound = (value: unknown): unknown =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;

function between(least: unknown, most: unknown, unit: string): string {
  const after = unit === '' ? '' : ` ${unit}`;
  if (least !== undefined && most !== undefined) return `${grouped(least)} to ${grouped(most)}${after}`;
  if (most !== undefined) return `at most ${grouped(most)}${after}`;
  return least === undefined ? '' : `${grouped(least)} or more${after}`;
}

const grouped = (value: unknown): string => Number(value).toLocaleString('en-US');
