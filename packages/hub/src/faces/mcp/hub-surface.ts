import type { ServerContext } from '@modelcontextprotocol/server';
import type { Hub, Log, Offers } from '@parley/core';

import type { Deprecations } from '../../deprecations.ts';
import { hubOf } from './caller-hub.ts';
import { requestAuth } from './request-auth.ts';
import { createServerFactory } from './hub-server.ts';
import { watchWanted } from './listen.ts';
import type { Surface } from './surface.ts';
import type { Profile } from './tools.ts';

/** The hub itself, each request with the claims of its own token. */
export function createHubSurface(options: {
  hub: Hub;
  log: Log;
  offers: Offers;
  profile: Profile;
  version: string;
  deprecations: Deprecations;
}): Surface {
  const serverFor = createServerFactory(options);
  return {
    server: ({ pushable }) =>
      serverFor({
        pushable,
        hub: (ctx: ServerContext) => hubOf(options, requestAuth(ctx).claims),
        requestId: (ctx) => requestAuth(ctx).request_id,
      }),
    listen(message, { claims, request_id, signal, publish, end }) {
      return watchWanted(message, {
        hub: hubOf(options, claims),
        context: { request_id, signal },
        signal,
        publish: (uri) => publish({ kind: 'resource_updated', uri }),
        onEnd: end,
      });
    },
  };
}
