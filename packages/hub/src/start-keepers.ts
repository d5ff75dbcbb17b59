import {
  type AskNews,
  createAskKeeper,
  createMuteKeeper,
  createOwnedJob,
  type Live,
  type Ports,
} from '@parley/core';

import type { OpenRecord } from './start-record.ts';

/** Builds those who end what has its time: asks that nobody answers, mutes for a while. */
export function createKeepers(
  { store, log, clock, chance, leases, nodes }: OpenRecord,
  live: Pick<Live, 'links' | 'ring'>,
  patience: Ports['patience'],
  onFault: (error: unknown) => void,
) {
  const keepers = {
    asks: createOwnedJob({ leases, onFault }, 'asks'),
    mutes: createOwnedJob({ leases, onFault }, 'mutes'),
  };
  const asks = createAskKeeper({
    store,
    log,
    ownLog: keepers.asks.log(log),
    clock,
    chance,
    links: live.links,
    patience,
    ...(nodes && {
      isOwner: () => keepers.asks.isOwned,
      onNews: (ask: AskNews) => nodes.bus.publish('ask', ask),
    }),
    onGone: (workspaceId) => live.ring(workspaceId),
    onFault,
  });
  const mutes = createMuteKeeper(store, keepers.mutes.log(log), clock, chance, onFault);
  return { keepers, asks, mutes };
}
