import { randomUUID } from 'node:crypto';

import {
  type CallRecord,
  createArrivals,
  createHub,
  createLive,
  createPresenceBoard,
  createProfileRegistry,
  createQuotas,
  createSharedSpending,
  createReads,
  type Invitation,
  type Ports,
  routeCalls,
  sharePresence,
} from '@parley/core';

import { createAbout } from './about-hub.ts';
import { createAnswerer } from './answerer.ts';
import { createPasskeys } from './auth/passkeys.ts';
import { openArtifacts } from './artifacts/open-artifacts.ts';
import type { Config } from './config/schema.ts';
import { createHubAddress } from './hub-address.ts';
import type { Lan } from './lan/open-lan.ts';
import type { Logger } from './logger.ts';
import { hearOthers } from './nodes/hear-others.ts';
import { createMessenger } from './notify/messenger.ts';
import { createOutgoing } from './notify/outgoing.ts';
import { pushKeys } from './notify/push-keys.ts';
import { quotaSettings } from './part-settings.ts';
import { createProse } from './prose.ts';
import { publishHub } from './publish-hub.ts';
import { describeCause, recordCall, recordRefusal } from './record-calls.ts';
import { keepReserve } from './reserve.ts';
import type { ServerOptions } from './server.ts';
import { openAuth } from './start-auth.ts';
import { createFaces } from './start-faces.ts';
import { createKeepers } from './start-keepers.ts';
import { listen } from './start-listening.ts';
import { openMetrics } from './start-metrics.ts';
import { openQueue } from './start-queue.ts';
import { openRecord } from './start-record.ts';
import { createUpkeep, openFinding } from './start-upkeep.ts';
import { createWakes } from './start-wakes.ts';
import { VERSION } from './version.ts';

/** A hub that listens. */
export interface RunningHub {
  url: string;
  /** Where it is on the local network, if it is there. */
  lan: Omit<Lan, 'close'> | undefined;
  /** Invites a device of a person to sign in at the dashboard, once and soon. */
  invite(person: Pick<Invitation, 'agent_id' | 'workspace_id'>): Promise<Invitation>;
  close(): Promise<void>;
}

/** How long the link that a starting hub prints is good. */
const LINK_MS = 1_800_000;

/** The signal of what ends only by itself. */
const never = new AbortController().signal;

interface StartOptions {
  /** It runs for another program, and ends with it. */
  embedded?: boolean;
  /** How the person who started it types this program. */
  command?: string;
}

/** Builds the whole hub, top to bottom in the order it starts: nothing is used before it is made. */
export async function start(
  config: Config,
  logger: Logger,
  { embedded = false, command = 'parley' }: StartOptions = {},
): Promise<RunningHub> {
  const onFault = (error: unknown): void => logger.error({ cause: describeCause(error) }, 'background');
  const patience = {
    stuckAfterMs: config.sessions.stuck_after_ms,
    offlineAfterMs: config.sessions.offline_after_ms,
    unreadStuckMs: config.sessions.unread_stuck_ms,
    returnMs: config.sessions.return_ms,
  };
  const record = await openRecord(config, patience, logger, onFault);
  const { store, log, feed, clock, chance, offers, unread, leases, nodes } = record;
  const startedAt = clock.now();
  const { registry } = config.presence;
  // The reader of YAML is loaded where there is something to read: most hubs have no registry.
  const profiles = registry === '' ? undefined : (await import('./profile-file.ts')).readRegistry(registry);
  const address = createHubAddress(config);
  const finding = openFinding(config, record, logger, onFault);
  const artifacts = openArtifacts({
    data: config.data,
    stateFiles: record.stateFiles,
    settings: config.artifacts,
    now: clock.now,
    address: address.get,
    isOneOfSeveral: nodes !== undefined,
  });
  // What only several people need is loaded where an issuer is configured.
  const oidc =
    config.oidc.issuer === ''
      ? undefined
      : await (await import('./oidc/open-oidc.ts')).openOidc(config, record, address.get, logger, onFault);
  const spending = nodes && createSharedSpending(nodes.bus);
  const auth = openAuth(config, record, spending, logger, onFault, oidc);

  const board = createPresenceBoard(clock);
  const presence = nodes === undefined ? board : sharePresence(board, nodes, clock);
  const prose = createProse(config.summary, logger);
  const arrivals = createArrivals({ monotonic: clock.monotonic, silentMs: patience.offlineAfterMs });
  const live = createLive({
    ...record,
    arrivals,
    newId: randomUUID,
    commandTimeoutMs: config.live.command_timeout_ms,
    maxConcurrent: config.live.max_concurrent,
    context: () => ({ request_id: `live_${randomUUID()}`, signal: never }),
    onFault,
  });
  const agents = { links: live.links, commander: live.commander, arrivals, patience };
  const metrics = openMetrics(config, record, live, onFault);
  const { keepers, asks, mutes } = createKeepers(record, live, patience, onFault);
  const wakes = createWakes(config, { ...record, ...agents, prose, live, onFault });
  const queue = openQueue(config, record, auth, metrics, onFault);
  const { deliveryQueue } = queue;
  const upkeepOfOthers = nodes && hearOthers(nodes, { asks, mutes, deliveryQueue, keepers, onFault });
  const messenger = createMessenger({
    outgoing: createOutgoing({
      allowedHosts: config.notify.allowed_hosts,
      timeoutMs: config.notify.timeout_ms,
    }),
    keys: await pushKeys(record.stateFiles),
    address: address.ofDashboard,
    contact: config.notify.contact,
    now: clock.now,
  });

  const ports: Ports = {
    store,
    log,
    feed,
    clock,
    chance,
    idempotencyWindowMs: record.idempotencyWindowMs,
    quotas: createQuotas(quotaSettings(config.quota), clock, spending?.quota),
    reads: createReads({
      ...record,
      maxBytes: config.envelope.kept_read_bytes,
      share: spending?.add,
    }),
    ...agents,
    offers,
    unread,
    prose,
    messageSearch: finding.messageSearch,
    presence,
    profiles: createProfileRegistry(profiles, (message) => logger.warn({}, message)),
    mutes: upkeepOfOthers?.mutes ?? mutes,
    presenceTtlMs: config.presence.ttl_ms,
    asks: upkeepOfOthers?.asks ?? asks,
    highRisk: config.asks.high_risk,
    passkeys: createPasskeys({ demanded: config.asks.passkey, hub: record.kid, origins: address.named }),
    prices: config.usage.prices,
    waker: wakes.waker,
    waitingSessions: wakes.waitingSessions,
    library: finding.library,
    indexFollower: finding.indexFollower,
    answerer: createAnswerer(config.answer, logger),
    noopAllowed: config.knowledge.allow_noop,
    agentsCreateUnder: config.knowledge.agents_create_under,
    artifacts,
    deliveryQueue,
    invitations: auth.invitations,
    authority: auth.authority,
    messenger,
    address: address.get,
    about: createAbout(record, startedAt, address.ofDashboard),
    slo: metrics.slo,
  };
  const upkeep = createUpkeep(config, ports, keepers, record, onFault);
  await upkeep.settle();

  const recorded = (call: CallRecord): void => {
    if (!call.later) metrics.calls.called(call);
    recordCall(logger, call);
  };
  const gate = createHub(ports, recorded, { checkAnswers: config.check_answers });
  const hub = live.open(nodes === undefined ? gate : routeCalls(gate, nodes, leases));
  const { faces, localKey } = createFaces(config, {
    ports,
    hub,
    live,
    nodes,
    spending,
    auth,
    oidc,
    artifacts,
    ofProcess: address.ofProcess,
    stateFiles: record.stateFiles,
    deliveryQueue,
    metrics,
    logger,
    command,
    onFault,
  });
  const serving: Pick<ServerOptions, 'faces' | 'onRefusal'> = {
    faces,
    onRefusal: (exchange, error, cause) => recordRefusal(logger, exchange, error, cause),
  };
  const listening = await listen(config, serving, address, clock.now, onFault);
  publishHub(
    config.data,
    { url: listening.url, pid: process.pid, version: VERSION, key: localKey, embedded },
    onFault,
  );
  keepReserve(config.data);
  await queue.start(hub);
  finding.start();
  await wakes.start();
  await upkeep.startNotifier();
  await upkeep.startWatching();
  return {
    url: listening.url,
    lan: listening.lan,
    invite: (person) =>
      auth.invitations.issue(
        { ...person, name: undefined, read_only: false, grant: { kid: record.kid, devices: [] } },
        LINK_MS,
      ),
    async close() {
      await listening.close();
      await queue.close();
      upkeepOfOthers?.close();
      spending?.close();
      await upkeep.closeNotifier();
      await wakes.close();
      await upkeep.close();
      await finding.close();
      presence.close();
      await metrics.close();
      await record.close();
    },
  };
}
