import { randomBytes } from 'node:crypto';

import {
  InMemoryServerEventBus,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerEvent,
} from '@modelcontextprotocol/server';
import { canonicalJson, type Claims } from '@parley/protocol';

import { requestAuth } from '../request-auth.ts';
import { createStateSeal } from '../state-seal.ts';
import type { Surface } from '../surface.ts';
import { ASKING_TOOLS } from './asking-tools.ts';
import { CONTENT_TOOLS } from './content-tools.ts';
import type { FixtureCall } from './fixture.ts';
import { INPUT_TOOLS } from './input-tools.ts';
import { getPrompt, PROMPTS } from './prompts.ts';
import { readResource, RESOURCE_TEMPLATES, RESOURCES } from './resources.ts';

const STATE_TTL_MS = 600_000;
const FIXTURES = [...CONTENT_TOOLS, ...ASKING_TOOLS, ...INPUT_TOOLS];

/** The fixtures of the official suite on the real transports, behind the real guards and tokens. */
export function createConformanceSurface(options: { version: string; now: () => number }): Surface {
  const events = new InMemoryServerEventBus();
  const ownerOf = new WeakMap<ServerEvent, string>();
  const seal = createStateSeal({ key: randomBytes(32), ttlMs: STATE_TTL_MS, now: options.now });
  const tools = FIXTURES.map(({ run: _run, ...tool }) => tool);

  function fixtureCall(name: string, args: Record<string, unknown>, ctx: ServerContext): FixtureCall {
    const { claims } = requestAuth(ctx);
    const binding = canonicalJson([principal(claims), ctx.mcpReq.method, name, args]);
    return {
      arguments: args,
      ctx,
      seal: (payload) => seal.seal(payload, binding),
      state() {
        const given = ctx.mcpReq.requestState<string>();
        if (given === undefined) return undefined;
        try {
          return seal.open(given, binding);
        } catch (error) {
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, (error as Error).message);
        }
      },
      publish(event) {
        ownerOf.set(event, principal(claims));
        events.publish(event);
      },
    };
  }

  function addPrompts(server: Server): void {
    server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }));
    server.setRequestHandler('prompts/get', ({ params }, ctx) =>
      getPrompt(params.name, params.arguments ?? {}, ctx),
    );
    server.setRequestHandler('completion/complete', () => ({
      completion: { values: [], total: 0, hasMore: false },
    }));
  }

  function addResources(server: Server): void {
    server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
    server.setRequestHandler('resources/read', ({ params }) => readResource(params.uri));
    server.setRequestHandler('resources/subscribe', () => ({}));
    server.setRequestHandler('resources/unsubscribe', () => ({}));
  }

  return {
    server() {
      const server = new Server(
        { name: 'parley-conformance', version: options.version },
        {
          capabilities: {
            tools: { listChanged: true },
            resources: { subscribe: true, listChanged: true },
            prompts: { listChanged: true },
            completions: {},
            logging: {},
          },
        },
      );
      server.setRequestHandler('tools/list', () => ({ tools }));
      server.setRequestHandler('tools/call', ({ params }, ctx) => {
        const found = FIXTURES.find(({ name }) => name === params.name);
        if (found === undefined)
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            `Unknown tool: ${params.name.slice(0, 128)}`,
          );
        return found.run(fixtureCall(params.name, params.arguments ?? {}, ctx));
      });
      addPrompts(server);
      addResources(server);
      return server;
    },
    async listen(message, { claims, signal, publish }) {
      const leave = events.subscribe((event) => {
        if (ownerOf.get(event) === principal(claims)) void publish(event);
      });
      signal.addEventListener('abort', leave);
      return message;
    },
  };
}

function principal({ workspace_id, agent_id }: Claims): string {
  return JSON.stringify([workspace_id, agent_id]);
}
