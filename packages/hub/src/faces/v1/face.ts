import {
  type Claims,
  type Contract,
  CONTRACTS,
  isOperation,
  decodeJson,
  ParleyError,
  redact,
} from '@parley/protocol';

import { allow } from '../../allow.ts';
import { type Exchange, HttpRefusal, readJsonText, sendJson } from '../../exchange.ts';
import { uploadArtifact } from '../../artifacts/upload.ts';
import { readQuery } from '../../query.ts';
import { requestContext } from '../../request-context.ts';
import type { Face } from '../../server.ts';
import { createDescription } from '../../send-description.ts';
import { openApiDocument } from './openapi/document.ts';
import type { V1Options } from './options.ts';
import { createResourceRoutes } from './resources.ts';
import { streamMessages } from './stream.ts';

const PREFIX = '/v1/';

/** Takes the bytes of an artifact as they are. */
const UPLOAD = '/v1/artifacts';

/** HTTP: `POST /v1/<operation>` for everything, resource-style reads beside it, and its own description. */
export function createV1Face(options: V1Options): Face {
  const { hub, authenticate, limits, deprecations } = options;
  const resources = createResourceRoutes();
  // Made when somebody asks for it: it takes longer than the rest of a start.
  const sendOpenApi = createDescription(
    (address) => openApiDocument(options.version, address, deprecations),
    options.isSecure,
  );
  const waiting = new Set<AbortController>();

  /** What is wrong with bytes that have arrived is 422 here, as the contract of the envelope has it. */
  async function upload(exchange: Exchange, claims: Claims): Promise<Record<string, unknown>> {
    try {
      return await uploadArtifact(hub, exchange, claims, waiting);
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'VALIDATION_ERROR') throw error;
      if (error instanceof HttpRefusal) throw error;
      throw new HttpRefusal(422, error.code, error.message, {}, error.details);
    }
  }

  return {
    claims: (path) => path.startsWith(PREFIX) || path === '/v1',
    async handle(exchange) {
      const { request, path } = exchange;
      if (path === '/v1/openapi.json') {
        allow(request.method, ['GET', 'HEAD']);
        sendOpenApi(exchange);
        return;
      }
      const name = path.slice(PREFIX.length);
      if (isOperation(name)) {
        exchange.notices = deprecations.headers(name);
        allow(request.method, ['POST']);
        const known = authenticate(request);
        const claims = known instanceof Promise ? await known : known;
        const { holdsDocuments }: Contract = CONTRACTS[name];
        const bytes = holdsDocuments === true ? options.documentBytes : limits.bytes;
        const input = decodeJson(await readJsonText(exchange, bytes), limits);
        const result = await hub.call(claims, name, input, requestContext(exchange, waiting));
        sendJson(exchange, 200, JSON.stringify(result));
        return;
      }
      if (path === UPLOAD && request.method === 'POST') {
        exchange.notices = deprecations.headers('put_artifact');
        const claims = await authenticate(request);
        sendJson(exchange, 200, JSON.stringify(await upload(exchange, claims)));
        return;
      }
      const match = resources(path);
      if (match === undefined)
        throw new HttpRefusal(
          404,
          'NOT_FOUND',
          `there is nothing at ${redact(path).slice(0, 200)}; see /v1/openapi.json`,
        );
      exchange.notices = deprecations.headers(match.name);
      allow(request.method, ['GET']);
      const claims = await authenticate(request);
      const input = { ...readQuery(CONTRACTS[match.name].input, exchange.query), ...match.fields };
      if (match.name === 'read_messages' && request.headers.accept?.includes('text/event-stream') === true) {
        await streamMessages(exchange, options, claims, input, waiting);
        return;
      }
      sendJson(
        exchange,
        200,
        JSON.stringify(await hub.call(claims, match.name, input, requestContext(exchange, waiting))),
      );
    },
    async close() {
      for (const ending of waiting) ending.abort();
    },
  };
}
