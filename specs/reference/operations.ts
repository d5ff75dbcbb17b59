import {
  CONTRACT_GROUPS,
  type Contract,
  costOf,
  entriesOf,
  keysOf,
  type OperationName,
} from '@parley/protocol';

import { pascal } from '../../packages/hub/src/faces/v1/openapi/errors.ts';
import { refusalsOf } from '../../packages/hub/src/faces/v1/openapi/refusals.ts';
import { TAGS } from '../../packages/hub/src/faces/v1/openapi/tags.ts';
import { listTools } from '../../packages/hub/src/faces/mcp/tools.ts';
import { describedSurface } from '../../tests/harness/surface.ts';
import { exampleCalls, type Example } from './example-answers.ts';
import { fieldTable, type Schema, table, typeOf } from './fields.ts';
import { ALSO, whoMay } from './who-may.ts';

type Group = keyof typeof CONTRACT_GROUPS;

const WRITTEN = 'Written by `npm run docs` from the contracts; not for hands.';

/** The pages of the operations: a list of all, one page for each group, and the types that they share. */
export async function operationPages(): Promise<Record<string, string>> {
  const { openapi } = describedSurface();
  const { schemas } = openapi['components'] as { schemas: Record<string, Schema> };
  const examples = await exampleCalls();
  const pages = Object.fromEntries(
    keysOf(CONTRACT_GROUPS).map((group) => [`${group}.md`, groupPage(group, schemas, examples)]),
  );
  return { 'operations.md': listPage(), ...pages, 'types.md': typesPage(schemas, Object.values(pages)) };
}

function listPage(): string {
  const parts = entriesOf(CONTRACT_GROUPS).map(([group, contracts]) => {
    const rows = Object.values(contracts as Record<string, Contract>).map((contract) => {
      // A contract of the table is named as its operation.
      const name = contract.name as OperationName;
      return [`[\`${name}\`](${group}.md#${name})`, contract.title, whoMay(name)];
    });
    return `## ${titleOf(group)}\n\n${TAGS[group]}\n\n${table(['operation', 'what it does', 'who may'], rows)}\n`;
  });
  return `# Operations

${WRITTEN}

An operation is something that a caller can do. Each is the same on every face:

- HTTP: \`POST /v1/<operation>\` with its fields as JSON, and a token as \`Authorization: Bearer\`;
- MCP: the tool of that name;
- \`/ws\`: a command of that name to \`parley\`;
- TypeScript and Python: the method of that name.

What a page calls *needed* must be sent; *always* means that every answer has it. A *name* is 1 to 128 of
\`A-Z a-z 0-9 . _ : @ -\` and begins with a letter or digit. Answers may gain fields at any time. A field that is not known is ignored and named in
\`warnings\`; operations that decide something refuse it. Codes stand under [errors](errors.md), roles under
[concepts](../concepts.md#role).

${parts.join('\n')}`;
}

function groupPage(
  group: Group,
  schemas: Record<string, Schema>,
  examples: ReadonlyMap<OperationName, Example>,
): string {
  const parts = Object.values(CONTRACT_GROUPS[group] as Record<string, Contract>).map((contract) =>
    operationPart(contract, schemas, examples),
  );
  return `# ${titleOf(group)}: operations\n\n${WRITTEN} All of them: [operations](operations.md).\n\n${TAGS[group]}\n\n${parts.join('\n')}`;
}

const SHORT_LIST: ReadonlySet<string> = new Set(listTools('essential').map(({ name }) => name));

function operationPart(
  contract: Contract,
  schemas: Record<string, Schema>,
  examples: ReadonlyMap<OperationName, Example>,
): string {
  // A contract of the table is named as its operation.
  const name = contract.name as OperationName;
  const own = Object.keys((contract.input as unknown as { shape: object }).shape);
  const takes = schemas[`${pascal(name)}Input`] ?? {};
  const fields = takes['properties'] as Record<string, Schema>;
  const input = {
    ...takes,
    properties: Object.fromEntries(own.map((field) => [field, fields[field] ?? {}])),
  };
  const result = schemas[`${pascal(name)}Result`] ?? {};
  const example = examples.get(name);
  return [
    `## ${name}`,
    `${contract.title}. ${contract.description}`,
    callLines(contract).join('\n'),
    fieldTable(input, 'takes'),
    fieldTable(resolved(result, schemas), 'gives'),
    ...(example === undefined ? [] : [exampleText(name, example)]),
    '',
  ].join('\n\n');
}

/** An answer that is one named type is shown as what it holds. */
function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (schemas[$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
}

const COSTS = {
  message: 'a message',
  write: 'a write',
  search: 'a search',
} as const;

function callLines(contract: Contract): string[] {
  // A contract of the table is named as its operation.
  const name = contract.name as OperationName;
  const route = contract.http === undefined ? '' : `, \`${contract.http.method} ${contract.http.path}\``;
  const cost = costOf(contract);
  const codes = refusalsOf(contract).filter((code) => !COMMON.has(code));
  const also = ALSO[name];
  return [
    `- **Call:** \`POST /v1/${name}\`${route}`,
    `- **Who may:** ${whoMay(name)}${also === undefined ? '' : `. ${also}`}`,
    `- **MCP:** ${SHORT_LIST.has(name) ? 'in the list that every client gets' : 'listed where `mcp.profile` is `full`; it can be called in any case'}`,
    `- **Counts as:** ${cost === undefined ? 'nothing: looking is free' : COSTS[cost]}`,
    ...(contract.strict === true ? ['- **Strict:** a field that is not known is refused'] : []),
    ...(codes.length === 0
      ? []
      : [
          `- **May refuse with:** ${codes.map((code) => `[\`${code}\`](errors.md#${code.toLowerCase()})`).join(', ')}`,
        ]),
  ];
}

/** What any call may be refused with; it stands once, on the page of errors. */
const COMMON: ReadonlySet<string> = new Set(refusalsOf(CONTRACT_GROUPS.hub.whoami));

function exampleText(name: OperationName, { asked, answered }: Example): string {
  const json = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
  return `\`POST /v1/${name}\` with\n\n${json(asked)}\n\nis answered with\n\n${json(answered)}`;
}

/** The types that the pages name, and those that these name in turn. */
function typesPage(schemas: Record<string, Schema>, pages: readonly string[]): string {
  const wanted = new Set<string>();
  const want = (text: string): void => {
    for (const [, name = ''] of text.matchAll(/\[(\w+)\]\(types\.md#/g)) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      want(partOf(name));
    }
  };
  const partOf = (name: string): string => {
    const schema = schemas[name] ?? {};
    const { description } = schema;
    const told = typeof description === 'string' ? `${description}.\n\n` : '';
    const body = schema['properties'] === undefined ? typeOf(schema) : fieldTable(schema, 'gives');
    return `## ${name}\n\n${told}${body}\n`;
  };
  for (const page of pages) want(page);
  const parts = [...wanted].toSorted().map(partOf).join('\n');
  return `# Types\n\n${WRITTEN}\n\nWhat several [operations](operations.md) take or give.\n\n${parts.replaceAll('](types.md#', '](#')}`;
}

const titleOf = (group: Group): string => `${group[0]?.toUpperCase() ?? ''}${group.slice(1)}`;
