import { CALLER_FIELDS, type Contract, CONTRACTS, type OperationName, fieldsOf } from '@parley/protocol';

import { createComponents, type Json } from '../../../schema-components.ts';
import type { Deprecations } from '../../../deprecations.ts';
import { describe, resultOf, type Writing } from './describe.ts';
import { HEADERS, pascal } from './errors.ts';
import { eventPaths } from './event-paths.ts';
import { EXAMPLES } from './examples.ts';
import { otherPaths } from './other-paths.ts';
import { TAGS } from './tags.ts';

/** The OpenAPI 3.1 description of the hub, made from the same schemas that check the calls. */
export function openApiDocument(version: string, address: string, deprecations: Deprecations): Json {
  const writing: Writing = {
    components: createComponents('#/components/schemas/'),
    responses: {},
    deprecations,
  };
  const contracts: Contract[] = Object.values(CONTRACTS);
  // What is answered has the plain names; what may be sent and differs from it has others.
  for (const contract of contracts) resultOf(writing, contract);
  const paths: Record<string, Json> = {};
  for (const contract of contracts) {
    paths[`/v1/${contract.name}`] = { post: postOperation(writing, contract) };
    if (contract.http !== undefined)
      paths[contract.http.path] = { get: getOperation(writing, contract, contract.http.path) };
  }
  for (const [path, item] of Object.entries({ ...eventPaths(writing), ...otherPaths(writing) }))
    paths[path] = { ...paths[path], ...item };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description:
        'The record that coding agents talk through. POST /v1/<operation> does everything; reads also have a GET. Answers may gain fields at any time; a request must not hold what is not described.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Whoever runs this hub' },
    },
    servers: [{ url: address, description: 'this hub' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A token of `parley token issue`, or of an issuer that the hub knows.',
        },
      },
      headers: HEADERS,
      responses: writing.responses,
      schemas: writing.components.all(),
    },
  };
}

function postOperation(writing: Writing, contract: Contract): Json {
  // A contract of the table is named as its operation.
  const name = contract.name as OperationName;
  const body = writing.components.inline(contract.input, 'input');
  const hints = Object.fromEntries(
    Object.entries(CALLER_FIELDS).map(([field, claim]) => [
      field,
      { type: 'string', description: `optional; must equal the token's ${claim}` },
    ]),
  );
  body['properties'] = { ...hints, ...fieldsOf(body['properties']) };
  if (contract.strict === true) body['additionalProperties'] = false;
  const schema = writing.components.named(`${pascal(name)}Input`, body);
  const example = EXAMPLES[name];
  return {
    ...describe(writing, contract, name, true),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema,
          ...(example === undefined ? {} : { examples: { typical: { value: example } } }),
        },
      },
    },
  };
}

function getOperation(writing: Writing, contract: Contract, path: string): Json {
  // The input of every operation is an object.
  const { properties = {}, required = [] } = writing.components.inline(contract.input, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  const parameters = Object.entries(properties)
    // A query holds words and numbers; lists and objects go by POST.
    .filter(([, schema]) => schema['type'] !== 'array' && schema['type'] !== 'object')
    .map(([name, { description, ...schema }]) => ({
      name,
      in: inPath.has(name) ? 'path' : 'query',
      required: inPath.has(name) || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
    }));
  const described = describe(writing, contract, nameOfPath(path), false);
  if (contract.name === 'read_messages') addStream(described);
  return { ...described, ...(parameters.length === 0 ? {} : { parameters }) };
}

/** With `Accept: text/event-stream` the same path follows the thread. */
function addStream(described: Json): void {
  // Described just above, with an answer of its own.
  const { content } = (described['responses'] as Record<string, Json>)['200'] as { content: Json };
  content['text/event-stream'] = {
    schema: {
      $ref: '#/components/schemas/Message',
    },
  };
  described['description'] =
    `${String(described['description'])} With Accept: text/event-stream the messages come as server-sent events, first those there are, then each as it is said; the schema is that of the data of each event, whose id is the seq.`;
}

/** `/v1/threads/{thread_id}/messages` as thread_messages: what a reader gets, in a word. */
function nameOfPath(path: string): string {
  if (path === '/v1/search/messages') return 'message_search';
  // A browser has a `document` of its own, and generators avoid the name.
  if (path === '/v1/documents/{document_id}') return 'document_content';
  const parts = path.split('/').slice(2);
  return parts
    .flatMap((part, i) => {
      if (part.startsWith('{')) return [];
      return [parts[i + 1]?.startsWith('{') === true ? part.replace(/ies$/, 'y').replace(/s$/, '') : part];
    })
    .join('_');
}
