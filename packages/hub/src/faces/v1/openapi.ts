import {
  CALLER_FIELDS,
  CONTRACTS,
  type Contract,
  ERROR_CODES,
  HTTP_STATUS,
  PostedEvent,
} from '@parley/protocol';
import { z } from 'zod';

import { eventPaths } from './openapi-events.ts';

type Json = Record<string, unknown>;

const errorResponses: Json = Object.fromEntries(
  [...new Set(Object.values(HTTP_STATUS))]
    .toSorted((a, b) => a - b)
    .map((status) => [
      String(status),
      {
        description: ERROR_CODES.filter((code) => HTTP_STATUS[code] === status).join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
);

/** The OpenAPI 3.1 description of `/v1`, made from the same schemas that check the calls. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const contract of Object.values(CONTRACTS) as Contract[]) {
    paths[`/v1/${contract.name}`] = { post: postOperation(contract) };
    if (contract.http !== undefined) paths[contract.http.path] = { get: getOperation(contract) };
  }
  Object.assign(paths['/v1/artifacts'] ?? {}, { post: uploadOperation() });
  Object.assign(paths, eventPaths(schemaOf(PostedEvent, 'input'), errorResponses));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description: 'The record that coding agents talk through.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Error: errorSchema() },
    },
  };
}

function postOperation(contract: Contract): Json {
  const body = schemaOf(contract.input, 'input');
  const hints = Object.fromEntries(
    Object.entries(CALLER_FIELDS).map(([field, claim]) => [
      field,
      { type: 'string', description: `optional; must equal the token's ${claim}` },
    ]),
  );
  body['properties'] = { ...hints, ...(body['properties'] as Json) };
  if (contract.strict === true) body['additionalProperties'] = false;
  return {
    ...describe(contract, contract.name),
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
  };
}

function getOperation(contract: Contract): Json {
  const { properties = {}, required = [] } = schemaOf(contract.input, 'input') as {
    properties?: Json;
    required?: string[];
  };
  const inPath = new Set([...(contract.http?.path ?? '').matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: inPath.has(name) ? 'path' : 'query',
    required: inPath.has(name) || required.includes(name),
    schema,
  }));
  return { ...describe(contract, `get_${contract.name}`), parameters };
}

/** The bytes of an artifact as they are; the rest of its input stands in the query. */
function uploadOperation(): Json {
  const { put_artifact: contract } = CONTRACTS;
  const text = { type: 'string' };
  return {
    ...describe(contract, 'upload_artifact'),
    parameters: [
      { name: 'name', in: 'query', required: true, schema: text },
      { name: 'sha256', in: 'query', schema: text },
      { name: 'Idempotency-Key', in: 'header', schema: text },
    ],
    requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
  };
}

function describe(contract: Contract, operationId: string): Json {
  return {
    operationId,
    summary: contract.title,
    description: contract.description,
    responses: {
      '200': {
        description: 'done',
        content: { 'application/json': { schema: schemaOf(contract.output, 'output') } },
      },
      ...errorResponses,
    },
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    reused: 'inline',
  });
  return inlineDefinitions(json);
}

/** Definitions stand in the schema itself, so that it can be moved anywhere in the document. */
function inlineDefinitions(schema: Json): Json {
  const definitions = (schema['$defs'] ?? {}) as Record<string, Json>;
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    const { $ref, ...rest } = value as Json;
    const name = typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
    if (name !== undefined && definitions[name] !== undefined) return walk({ ...definitions[name], ...rest });
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== '$defs' && key !== 'id')
        .map(([key, item]) => [key, walk(item)]),
    );
  };
  return walk(schema) as Json;
}

function errorSchema(): Json {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id'],
        properties: {
          code: { enum: ERROR_CODES },
          message: { type: 'string' },
          request_id: { type: 'string' },
          details: { type: 'object' },
        },
      },
    },
  };
}
