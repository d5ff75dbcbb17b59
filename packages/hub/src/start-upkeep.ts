import {
  createForgetKeeper,
  createIndexFollower,
  createMessageFollower,
  createNonceKeeper,
  createNotifier,
  createOwnedJob,
  createTreeKeeper,
  type JobName,
  type Leases,
  type OwnedJob,
  type Ports,
} from '@parley/core';

import type { Config } from './config/schema.ts';
import type { Logger } from './logger.ts';
import { notifySettings } from './part-settings.ts';
import { openSearches } from './searches.ts';
import type { OpenRecord } from './start-record.ts';

/** Opens the searches by words and meaning, and those who keep them level with the log. */
export function openFinding(
  config: Config,
  { store, feed, clock }: OpenRecord,
  logger: Logger,
  onFault: (error: unknown) => void,
) {
  const searches = openSearches(config, onFault, (kind, text) => {
    logger.warn({ rebuilt: text }, 'rebuilt from the log');
    (kind === 'documents' ? indexFollower : follower).again();
  });
  const following = { store, feed, clock, onFault };
  const indexFollower = createIndexFollower({ ...following, index: searches.documents });
  const { keep, index } = config.search.messages;
  const follower = createMessageFollower({ ...following, index: searches.messages, keep });
  return {
    library: searches.documents,
    indexFollower,
    messageSearch: index === 'never' ? undefined : { finder: searches.messages, follower, keep },
    start() {
      void indexFollower.start();
      if (searches.keepsMessages) void follower.start();
    },
    async close() {
      await indexFollower.close();
      await follower.close();
      await searches.close();
    },
  };
}

/** Builds the keepers: what is over comes to its end, and people hear of what concerns them; each while it is ours. */
export function createUpkeep(
  config: Config,
  ports: Ports,
  keepers: { asks: OwnedJob; mutes: OwnedJob },
  leases: Leases,
  onFault: (error: unknown) => void,
) {
  const own = (name: JobName) => {
    const job = createOwnedJob({ leases, onFault }, name);
    return { job, deps: { ...ports, log: job.log(ports.log), store: job.store(ports.store), onFault } };
  };
  const tree = own('tree');
  const nonces = own('nonces');
  const forgetting = own('forgetting');
  const notifications = own('notifications');
  return {
    /** Before anybody is let in: what ended while no hub ran has ended. */
    async settle() {
      await keepers.asks.start(async () => {
        await ports.asks.start();
        return () => ports.asks.close();
      });
      await keepers.mutes.start(async () => {
        await ports.mutes.start();
        return () => ports.mutes.close();
      });
      await tree.job.start(async () => {
        const keeper = createTreeKeeper({ ...tree.deps, everyMs: config.knowledge.sweep_ms });
        await keeper.start();
        return () => keeper.close();
      });
      await nonces.job.start(async () => {
        const keeper = createNonceKeeper({ ...nonces.deps, everyMs: config.knowledge.sweep_ms });
        await keeper.start();
        return () => keeper.close();
      });
      await forgetting.job.start(async () => {
        const afterMs = config.sessions.forget_once_after_ms;
        const keeper = createForgetKeeper({ ...forgetting.deps, afterMs });
        keeper.start();
        return () => keeper.close();
      });
    },
    startNotifier: () =>
      notifications.job.start(async () => {
        const notifier = createNotifier({ ...notifications.deps, settings: notifySettings(config.notify) });
        await notifier.start();
        return () => notifier.close();
      }),
    closeNotifier: () => notifications.job.close(),
    async close() {
      for (const job of [keepers.asks, keepers.mutes, tree.job, nonces.job, forgetting.job])
        await job.close();
    },
  };
}
