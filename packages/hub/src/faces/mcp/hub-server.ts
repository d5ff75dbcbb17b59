import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isOperation, fieldsOf } from '@parley/protocol';

import type { Deprecations } from '../../deprecations.ts';
import {
  asParleyError,
  callContext,
  type Connection,
  noSuchResource,
  protocolError,
  requestIdOf,
} from './connection.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { listThreadResources, readThreadResource } from './resources.ts';
import { addSubscriptions } from './subscriptions.ts';
import { safeLine } from './safe-json.ts';
import { THREAD_URI_TEMPLATE, threadOfUri } from './thread-uri.ts';
import { toolError, toolResult } from './tool-result.ts';
import { listTools, type Profile } from './tools.ts';

/** Under which a tool that is to end, and each of its results, says so. */
const DEPRECATION = 'parley/deprecation';

/** Makes the servers of the hub: a fresh one for each request or connection, over one tool list. */
export function createServerFactory(options: {
  profile: Profile;
  version: string;
  deprecations: Pick<Deprecations, 'of'>;
}): (connection: Connection) => Server {
  const { deprecations } = options;
  const endOf = (name: string) => {
    const ending = isOperation(name) ? deprecations.of(name) : undefined;
    return ending === undefined ? {} : { _meta: { [DEPRECATION]: ending } };
  };
  const listed = listTools(options.profile);
  const info = { name: 'parley', title: 'Parley', version: options.version };
  return (connection) => {
    const server = new Server(info, {
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions: INSTRUCTIONS,
      cacheHints: CACHE_HINTS,
    });
    server.setRequestHandler('tools/list', () => ({
      tools: listed.map((tool) => ({ ...tool, ...endOf(tool.name) })),
    }));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => ({
      ...(await callTool(connection, params, ctx, server.getClientVersion()?.name)),
      ...endOf(params.name),
    }));
    addResources(server, connection);
    addSubscriptions(server, connection);
    return server;
  };
}

const CACHE_HINTS = {
  'tools/list': { ttlMs: 3_600_000, cacheScope: 'public' },
  'resources/templates/list': { ttlMs: 3_600_000, cacheScope: 'public' },
} as const;

async function callTool(
  connection: Connection,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  ctx: ServerContext,
  introduced: string | undefined,
) {
  const { name, arguments: input = {} } = params;
  if (!isOperation(name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${safeLine(name, 128)}`);
  const context = callContext(connection, ctx);
  try {
    const output = await connection.hub(ctx).call(name, input, context);
    return toolResult(name, output, introduced ?? clientOf(ctx));
  } catch (thrown) {
    const error = asParleyError(thrown);
    return toolError(error, requestIdOf(error, context.request_id));
  }
}

/** What the client of the newest revision calls itself, beside each of its requests. */
function clientOf({ mcpReq: { envelope } }: ServerContext): string | undefined {
  const info = fieldsOf(fieldsOf(envelope)[CLIENT_INFO_META_KEY]);
  return typeof info['name'] === 'string' ? info['name'] : undefined;
}

function addResources(server: Server, connection: Connection): void {
  const answer = async <T>(
    ctx: ServerContext,
    uri: string | undefined,
    run: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      throw protocolError(error, connection.requestId(ctx), uri);
    }
  };
  server.setRequestHandler('resources/list', ({ params }, ctx) =>
    answer(ctx, undefined, () =>
      listThreadResources(connection.hub(ctx), params?.cursor, callContext(connection, ctx)),
    ),
  );
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: THREAD_URI_TEMPLATE,
        name: 'thread',
        title: 'A thread',
        description: 'A thread with its newest messages. Subscribe to hear when it grows.',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, ctx) =>
    answer(ctx, uri, () => {
      const threadId = threadOfUri(uri);
      if (threadId === undefined) throw noSuchResource(uri);
      return readThreadResource(connection.hub(ctx), threadId, callContext(connection, ctx));
    }),
  );
}
