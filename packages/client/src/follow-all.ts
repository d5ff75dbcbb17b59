import type { ThreadEvent } from '@parley/protocol';

import { type FollowOptions, followStream, type Source } from './follow-stream.ts';
import type { Transport } from './transport.ts';

/** An event of the workspace; one that stands in its log has its position there, a presence has none. */
export interface Happening {
  pos?: number;
  event: ThreadEvent;
}

/** What happens in all threads that the caller may see, after a position of the workspace's log or from now on. */
export type FollowAll = (after?: number, options?: FollowOptions) => AsyncGenerator<Happening, void, void>;

/** Follows the workspace over every broken connection, each event of the log once and in order. */
export function createFollowAll(transport: Transport, patienceMs: number): FollowAll {
  return (after, options = {}) => followStream(transport, patienceMs, WORKSPACE, after, options);
}

const WORKSPACE: Source<Happening> = {
  path: (position) => (position === undefined ? '/v1/stream' : `/v1/stream?after=${position}`),
  read({ event, data }, position = -1) {
    // The hub writes nothing else to this stream.
    const brought = JSON.parse(data) as Happening;
    const { pos } = brought;
    if (event === 'hello') return pos === undefined ? {} : { position: pos };
    if (event !== 'message') return {};
    if (pos === undefined) return { item: brought };
    return pos <= position ? {} : { position: pos, item: brought };
  },
};
