import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { ParleyError } from '@parley/protocol';
import type { Registry } from 'prom-client';

import { allow } from '../../allow.ts';
import { type Authenticate, tokenOf } from '../../auth/authenticate.ts';
import { sendText } from '../../exchange.ts';
import type { Face } from '../../server.ts';

export interface MetricsOptions {
  registry: Registry;
  authenticate: Authenticate;
  /** The workspace of those who run the hub: the metrics name all others. */
  workspace: string;
  /** The lasting secret of a scraper, read anew each time; undefined when there is none. */
  secret: () => string | undefined;
  watchProcess: () => void;
}

/** `/metrics` for Prometheus: for whoever runs the hub, or holds the scraper's secret. */
export function createMetricsFace(options: MetricsOptions): Face {
  const { registry, authenticate, workspace, secret, watchProcess } = options;

  async function admit(request: IncomingMessage): Promise<void> {
    if (isSecret(request, secret())) return;
    const { role, workspace_id } = await authenticate(request);
    if (role !== 'operator' || workspace_id !== workspace)
      throw new ParleyError(
        'FORBIDDEN',
        `the metrics are for operators of the workspace ${workspace} and for the secret in metrics.token_file`,
      );
  }

  return {
    claims: (path) => path === '/metrics',
    async handle(exchange) {
      allow(exchange.request.method, ['GET', 'HEAD']);
      await admit(exchange.request);
      watchProcess();
      sendText(exchange, registry.contentType, await registry.metrics());
    },
  };
}

function isSecret(request: IncomingMessage, secret: string | undefined): boolean {
  const header = request.headers.authorization;
  if (secret === undefined || header === undefined) return false;
  const digest = (text: string): Buffer => Buffer.from(hash('sha256', text, 'hex'));
  return timingSafeEqual(digest(tokenOf(header)), digest(secret));
}
