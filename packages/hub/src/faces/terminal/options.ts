import type { CallContext, Hub, Live } from '@parley/core';
import type { Claims } from '@parley/protocol';

import type { StreamOptions } from '../../event-stream.ts';
import type { Exchange } from '../../exchange.ts';

/** What the terminal face works with. */
export interface TerminalFaceOptions {
  hub: Pick<Hub, 'call'>;
  live: Pick<Live, 'command'>;
  authenticate: (request: Exchange['request']) => Claims | Promise<Claims>;
  context: (signal: AbortSignal) => CallContext;
  newId: () => string;
  streams: StreamOptions;
}
