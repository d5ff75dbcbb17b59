import {
  createForgetKeeper,
  createIndexFollower,
  createMessageFollower,
  createNonceKeeper,
  createNotifier,
  createOwnedJob,
  createStateWatcher,
  createTreeKeeper,
  createUsageKeeper,
  type JobName,
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

const DAY_MS = 86_400_000;

/** Builds the keepers: what is over comes to its end, and people hear of what concerns them; each while it is ours. */
export function createUpkeep(
  config: Config,
  ports: Ports,
  keepers: { asks: OwnedJob; mutes: OwnedJob },
  { leases, nodes, time }: Pick<OpenRecord, 'leases' | 'nodes' | 'time'>,
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
  const states = own('states');
  const usage = own('usage');
  // Where there are several nodes, their lease tells when the last of them watched.
  let ranUntil = nodes === undefined ? time.ranUntil : undefined;
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
        void keeper.start();
        return () => keeper.close();
      });
      await usage.job.start(async () => {
        const keeper = createUsageKeeper({ ...usage.deps, keepDays: config.usage.keep_days });
        void keeper.start();
        return () => keeper.close();
      });
    },
    startNotifier: () =>
      notifications.job.start(async () => {
        const notifier = createNotifier({ ...notifications.deps, settings: notifySettings(config.notify) });
        await notifier.start();
        return () => notifier.close();
      }),
    /** Once agents can come in again: those who do so at once were not gone. */
    startWatching: () =>
      states.job.start(async ({ lastHeld = ranUntil }) => {
        const keepMs = config.sessions.states_keep_days * DAY_MS;
        if (keepMs === 0) return () => {};
        const watcher = createStateWatcher({ ...states.deps, keepMs, ranUntil: lastHeld });
        ranUntil = undefined;
        await watcher.start();
        return () => watcher.close();
      }),
    closeNotifier: () => notifications.job.close(),
    async close() {
      for (const job of [
        states.job,
        usage.job,
        keepers.asks,
        keepers.mutes,
        tree.job,
        nonces.job,
        forgetting.job,
      ])
        await job.close();
    },
  };
}
