import { randomBytes, randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

import {
  type Chance,
  type Clock,
  createFeed,
  createLeases,
  createLog,
  createOffers,
  createOwnedJob,
  createUnreadCache,
  type Feed,
  keepForgettingKeys,
  type StateFiles,
  type Leases,
  type MessagePorts,
  type Offer,
  openTimeKeeper,
  type Patience,
  type RecordPorts,
  shareFeed,
  startFeedPoll,
  type TimeKeeper,
} from '@parley/core';
import type { Caller } from '@parley/protocol';
import { lockFolder } from '@parley/store-sqlite';

import { signingKey } from './auth/key-file.ts';
import type { Config } from './config/schema.ts';
import { STORE_FILE, withoutPassword } from './config/store-note.ts';
import { prepareFolder, writePrivateFile } from './data-folder.ts';
import type { Logger } from './logger.ts';
import { type OpenNodes, openNodes } from './nodes/open-nodes.ts';
import { openStore } from './open-store.ts';
import { publishHub } from './publish-hub.ts';
import { recordJump } from './record-calls.ts';
import { keepReserve, spendReserve } from './reserve.ts';

/** The data folder, locked and open: the store, the log over it, and the time that the record trusts. */
export interface OpenRecord extends RecordPorts, Pick<MessagePorts, 'offers' | 'unread'> {
  feed: Feed;
  time: TimeKeeper;
  leases: Leases;
  /** The other nodes; undefined where nobody else can have the record. */
  nodes: OpenNodes | undefined;
  /** What all nodes of the record share beside it. */
  stateFiles: StateFiles;
  /** The id of the hub's own key. */
  kid: string;
  close(): Promise<void>;
}

/** How long a job outlives the node that did it: with the asking of another, well below ten seconds. */
const LEASE_MS = 6_000;

const chance: Chance = { bytes: (count) => randomBytes(count), below: (bound) => randomInt(bound) };

/** Tells commands on this folder where its record is. */
function noteStore({ data, store }: Config): void {
  const path = join(data, STORE_FILE);
  if (store === '') rmSync(path, { force: true });
  else writePrivateFile(path, `${JSON.stringify({ store: withoutPassword(store) })}\n`);
}

/** Opens the record of a hub; nobody else has it until it is closed. */
export async function openRecord(
  config: Config,
  patience: Patience,
  logger: Logger,
  onFault: (error: unknown) => void,
): Promise<OpenRecord> {
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  spendReserve(config.data);
  // What a hub that crashed left behind must not be taken for this one.
  publishHub(config.data, undefined, onFault);
  const { store, stateFiles, now } = await openStore(config, logger);
  const wall = { now, monotonic: () => performance.now() };
  noteStore(config);
  const { kid } = await signingKey(stateFiles, wall.now());
  const nodes = await openNodes(config, { stateFiles, clock: wall }, logger, onFault);
  const leases = createLeases({
    store,
    clock: wall,
    chance,
    ...(nodes === undefined ? {} : { ttlMs: LEASE_MS, owner: nodes.bus.node }),
  });
  const clockJob = createOwnedJob({ leases, onFault }, 'clock');
  const time = await openTimeKeeper({
    store: clockJob.store(store),
    clock: wall,
    chance,
    uptime: () => uptime() * 1_000,
    onJump: (jump) => recordJump(logger, jump),
    ...(nodes === undefined ? {} : { isWriter: () => clockJob.isOwned }),
    onFault,
  });
  const clock: Clock = { ...wall, trusted: () => time.trusted() };
  const { window_ms: idempotencyWindowMs } = config.idempotency;
  const keys = createOwnedJob({ leases, onFault }, 'keys');
  void keys.start(async () => keepForgettingKeys(store, clock, idempotencyWindowMs));
  // What was given to an agent changes what is unread, and the other way round.
  const unread = createUnreadCache({ store, clock, patience, offers: () => offers });
  const ownFeed = createFeed();
  const poll = startFeedPoll({ store, feed: ownFeed, clock, onFault });
  const shared =
    nodes &&
    shareFeed({
      bus: nodes.bus,
      feed: ownFeed,
      onWritten(reached) {
        unread.touched(reached);
        poll.heard(reached);
      },
      onRead(who, given) {
        if (given !== undefined) offers.heard(who.workspace_id, given);
        unread.forget(who);
      },
    });
  const feed = shared?.feed ?? ownFeed;
  const hasRead = (who: Caller, given: Offer): void => {
    unread.forget(who);
    shared?.hasRead(who, given);
  };
  const offers = createOffers(store, clock, chance, onFault, hasRead);
  const log = createLog(store, feed, (command, committed) => {
    unread.noticed(command, committed);
    if (command.type === 'ack_read') shared?.hasRead(command.caller);
    if (committed.reached === undefined) return;
    poll.heard(committed.reached);
    shared?.wrote(committed.reached);
  });
  return {
    store,
    log,
    offers,
    unread,
    feed,
    clock,
    chance,
    idempotencyWindowMs,
    time,
    leases,
    nodes,
    stateFiles,
    kid,
    async close() {
      await offers.flush();
      await keys.close();
      await poll.close();
      await time.close();
      await clockJob.close();
      await nodes?.close();
      await store.close();
      await stateFiles.close();
      publishHub(config.data, undefined, onFault);
      keepReserve(config.data);
      lock.release();
    },
  };
}
