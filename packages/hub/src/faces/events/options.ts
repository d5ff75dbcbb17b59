import type { Feed, Hub, Log, Offers, PresenceBoard } from '@parley/core';
import type { Claims } from '@parley/protocol';

import type { Deprecations } from '../../deprecations.ts';
import type { StreamOptions } from '../../event-stream.ts';
import type { BodyLimits, Exchange } from '../../exchange.ts';

/** What the face of thread events works with. */
export interface EventsOptions {
  hub: Hub;
  log: Log;
  feed: Feed;
  presence: PresenceBoard;
  offers: Offers;
  authenticate: (request: Exchange['request']) => Claims | Promise<Claims>;
  limits: BodyLimits;
  deprecations: Deprecations;
  streams: StreamOptions;
  now: () => number;
}
