type Schema = Record<string, unknown>;

const NARROWING = ['pattern', 'format', 'const'] as const;
const UPPER = ['maxLength', 'maximum', 'maxItems'] as const;
const LOWER = ['minLength', 'minimum', 'minItems'] as const;

/** What a caller who kept to the older schema of an action could no longer do under the newer one. */
export function breakingChanges(older: unknown, newer: unknown, path = 'args'): string[] {
  const [a, b] = [older as Schema, newer as Schema];
  const found: string[] = [];
  const tell = (what: string): void => void found.push(`${path}: ${what}`);
  if (JSON.stringify(a['type']) !== JSON.stringify(b['type'])) tell('has another type');
  for (const word of NARROWING)
    if (b[word] !== undefined && b[word] !== a[word]) tell(`must now fit another ${word}`);
  for (const word of UPPER)
    if (bound(b[word], Infinity) < bound(a[word], Infinity)) tell(`has a lower ${word}`);
  for (const word of LOWER)
    if (bound(b[word], -Infinity) > bound(a[word], -Infinity)) tell(`has a higher ${word}`);
  for (const value of list(a['enum']))
    if (!list(b['enum']).includes(value)) tell(`no longer takes ${JSON.stringify(value)}`);
  if (a['enum'] === undefined && b['enum'] !== undefined) tell('takes only some values now');
  for (const name of list(b['required']))
    if (!list(a['required']).includes(name)) tell(`now needs ${String(name)}`);
  const [before, after] = [record(a['properties']), record(b['properties'])];
  for (const [name, schema] of Object.entries(before))
    if (after[name] === undefined) tell(`no longer knows ${name}`);
    else found.push(...breakingChanges(schema, after[name], `${path}.${name}`));
  if (a['additionalProperties'] !== false && b['additionalProperties'] === false)
    tell('no longer takes fields that it does not know');
  const ways = list(b['anyOf']);
  for (const way of list(a['anyOf']))
    if (ways.length > 0 && !ways.some((other) => breakingChanges(way, other).length === 0))
      tell(`no longer takes one of its forms: ${JSON.stringify(way).slice(0, 80)}`);
  if (a['items'] !== undefined && b['items'] !== undefined)
    found.push(...breakingChanges(a['items'], b['items'], `${path}[]`));
  return found;
}

/** The first number of the version in a schema's title, such as `knowledge.get_document 1.0.0`. */
export function majorOf({ title }: { title?: unknown }): number {
  const match = / (\d+)\.\d+\.\d+$/.exec(String(title));
  if (match === null) throw new Error(`no version in the title ${String(title)}`);
  return Number(match[1]);
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const record = (value: unknown): Record<string, unknown> => (value ?? {}) as Record<string, unknown>;
const bound = (value: unknown, none: number): number => (typeof value === 'number' ? value : none);
