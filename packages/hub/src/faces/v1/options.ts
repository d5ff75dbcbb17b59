import type { Hub, Log, Offers } from '@parley/core';
import type { Claims } from '@parley/protocol';

import type { Deprecations } from '../../deprecations.ts';
import type { StreamOptions } from '../../event-stream.ts';
import type { BodyLimits, Exchange } from '../../exchange.ts';

/** What the HTTP face works with. */
export interface V1Options {
  hub: Hub;
  log: Log;
  offers: Offers;
  authenticate: (request: Exchange['request']) => Claims | Promise<Claims>;
  limits: BodyLimits;
  /** What a body may have that holds documents. */
  documentBytes: number;
  version: string;
  /** The hub speaks TLS. */
  isSecure: boolean;
  deprecations: Deprecations;
  streams: StreamOptions;
}
