import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';

import {
  type About,
  type Chance,
  type Clock,
  clockState,
  createAskKeeper,
  createCallFollower,
  createFeed,
  createHub,
  createIndexFollower,
  createInvitations,
  createLanes,
  createLive,
  createLog,
  createMessageFollower,
  createQuotas,
  createMuteKeeper,
  createNotifier,
  createOffers,
  createPostOffice,
  createPresenceBoard,
  createProfileRegistry,
  createQuota,
  createSloWindow,
  createTreeKeeper,
  createWakeDesk,
  createWaker,
  type Deps,
  type Invitation,
  keepForgettingKeys,
  openTimeKeeper,
} from '@parley/core';
import type { Claims, HubFile } from '@parley/protocol';
import { lockFolder, openSqliteStore } from '@parley/store-sqlite';
import { Registry } from 'prom-client';

import { openArtifacts } from './artifacts/open-artifacts.ts';
import { createAnswerer } from './answerer.ts';
import { createAuthenticate, createTokenCheck } from './auth/authenticate.ts';
import { createDevices } from './auth/devices.ts';
import { issueToken } from './auth/issue-token.ts';
import { readKeyFile, signingKey } from './auth/key-file.ts';
import { isOpened } from './auth/same-origin.ts';
import { createSenderCheck } from './auth/sender.ts';
import { createSignInTries } from './auth/sign-in-tries.ts';
import { createVerifier } from './auth/verifier.ts';
import type { Config } from './config/schema.ts';
import { prepareFolder } from './data-folder.ts';
import { createArtifactFace } from './faces/artifacts/face.ts';
import { createDashboardFace } from './faces/dashboard/face.ts';
import { readWebFiles } from './faces/dashboard/files.ts';
import { createEnvelopeFace } from './faces/envelope/face.ts';
import { createEventsFace } from './faces/events/face.ts';
import { createHealthFace } from './faces/health.ts';
import { createLocalTokenFace } from './faces/local/face.ts';
import { openMcpFace } from './faces/mcp/face.ts';
import { createMetricsFace } from './faces/metrics/face.ts';
import { createPagesFace } from './faces/pages/face.ts';
import { createV1Face } from './faces/v1/face.ts';
import { createLiveFace } from './faces/ws/face.ts';
import type { Logger } from './logger.ts';
import { createEnvelopeMeter } from './metrics/envelope-metrics.ts';
import { createCallMeter } from './metrics/hub-metrics.ts';
import { readSecret } from './metrics/secret-file.ts';
import { keepSlo } from './metrics/slo-file.ts';
import { readRegistry } from './profile-file.ts';
import { createMessenger } from './notify/messenger.ts';
import { createOutgoing } from './notify/outgoing.ts';
import { pushKeys } from './notify/push-keys.ts';
import { notifySettings, postSettings, quotaSettings, wakeSettings } from './part-settings.ts';
import { createProse } from './prose.ts';
import { publishHub } from './publish-hub.ts';
import { keepReserve, spendReserve } from './reserve.ts';
import { describeCause, recordCall, recordJump, recordRefusal } from './record-calls.ts';
import { requestContext } from './request-context.ts';
import { openSearches } from './searches.ts';
import { startServer } from './server.ts';
import { VERSION } from './version.ts';
import { createDoors } from './wake/doors.ts';
import { runtimeProfiles } from './wake/profile.ts';

/** A hub that listens. */
export interface RunningHub {
  url: string;
  /** Invites a device of a person to sign in at the dashboard, once and soon. */
  invite(person: Pick<Invitation, 'agent_id' | 'workspace_id'>): Invitation;
  close(): Promise<void>;
}

const wall = { now: () => Date.now(), monotonic: () => performance.now() };
const chance: Chance = { bytes: (count) => randomBytes(count), below: (bound) => randomInt(bound) };

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

/** Builds the whole hub, top to bottom in the order it starts; the only place where instances are made. */
export async function start(
  config: Config,
  log: Logger,
  { embedded = false, command = 'parley' }: StartOptions = {},
): Promise<RunningHub> {
  /** The time that it trusts is the keeper's, which needs the store first. */
  const clock: Clock = { ...wall, trusted: () => time.trusted() };
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  spendReserve(config.data);
  const onFault = (error: unknown): void => log.error({ cause: describeCause(error) }, 'background');
  // What a hub that crashed left behind must not be taken for this one.
  publishHub(config.data, undefined, onFault);
  const ownKey = await signingKey(config.data, clock.now());
  const store = await openSqliteStore({
    folder: config.data,
    maxBatch: config.limits.batch,
    maxQueue: config.limits.queue,
    onFault: (message) => log.error({ fault: message }, 'storage fault'),
    onRecovery: () => log.warn({}, 'writes are taken again'),
    onNews: ({ kind, text }) =>
      kind === 'rebuilt' ? log.warn({ rebuilt: text }, 'rebuilt from the log') : log.info({}, text),
  });
  const started_at = new Date(clock.now()).toISOString();
  const feed = createFeed();
  const time = await openTimeKeeper({
    store,
    clock: wall,
    chance,
    uptime: () => uptime() * 1_000,
    onJump: (jump) => recordJump(log, jump),
    onFault,
  });
  const stopForgettingKeys = keepForgettingKeys(store, clock, config.idempotency.window_ms);
  const searches = openSearches(config, onFault, (text) =>
    log.warn({ rebuilt: text }, 'rebuilt from the log'),
  );
  const following = { store, feed, clock, onFault };
  const slo = createSloWindow({ now: clock.trusted });
  const sloFile = keepSlo(config.data, slo, onFault);
  const metrics = new Registry();
  const envelopeMeter = createEnvelopeMeter([metrics], slo, config.metrics.max_series);
  const callMeter = createCallMeter(metrics, {
    position: () => store.position(),
    writable: () => store.health().writable,
    waiting: () => store.health().waiting ?? 0,
    connections: () => live.connections,
    agents: () => live.agentCount,
    searchLag: () => store.searchLag(),
    clockAheadMs: () => clockState(time.known()).ahead_ms,
    now: clock.now,
  });
  const indexFollower = createIndexFollower({ ...following, index: searches.documents });
  const { keep } = config.search.messages;
  const messageFollower = createMessageFollower({ ...following, index: searches.messages, keep });
  const address = (): string =>
    config.http.allowed_origins.find((origin) => origin.startsWith('https://')) ?? server.url;
  const artifacts = openArtifacts({
    data: config.data,
    settings: config.artifacts,
    now: clock.now,
    address,
  });
  const deps: Deps = {
    store,
    log: createLog(store, feed),
    clock,
    chance,
    feed,
    quotas: createQuotas(quotaSettings(config.quota), clock),
    presence: createPresenceBoard(clock),
    profiles: createProfileRegistry(readRegistry(config.presence.registry), (message) =>
      log.warn({}, message),
    ),
    links: {
      of: (workspaceId) => live.links(workspaceId),
      get size() {
        return live.connections;
      },
    },
    commander: { command: (...call) => live.command(...call) },
    asks: createAskKeeper(store, () => deps.log, clock, chance, onFault),
    mutes: createMuteKeeper(store, () => deps.log, clock, chance, onFault),
    offers: createOffers(store, clock, chance, onFault),
    waker: { wake: (...call) => waker.wake(...call) },
    wakeDesk: createWakeDesk(clock.monotonic),
    invitations: createInvitations(clock, chance),
    authority: {
      of: (caller) => devices.grantOf(caller) ?? verifier.grantOf(caller),
      ended: (grant) => verifier.ended(grant),
    },
    address,
    messenger: createMessenger({
      outgoing: createOutgoing({
        allowedHosts: config.notify.allowed_hosts,
        timeoutMs: config.notify.timeout_ms,
      }),
      keys: await pushKeys(config.data),
      address: () => deps.about().address,
      contact: config.notify.contact,
      now: clock.now,
    }),
    about: () => ({
      version: VERSION,
      started_at,
      address: address(),
      keys: describeKeys(config.data),
      event_loop: eventLoop(),
      clock: clockState(time.known()),
    }),
    prose: createProse(config.summary, log),
    library: searches.documents,
    indexFollower,
    messageSearch:
      config.search.messages.index === 'never'
        ? undefined
        : { finder: searches.messages, follower: messageFollower, keep },
    answerer: createAnswerer(config.answer, log),
    artifacts,
    postOffice: { redrive: (...call) => postOffice.redrive(...call) },
    noopAllowed: config.knowledge.allow_noop,
    slo,
    idempotencyWindowMs: config.idempotency.window_ms,
    presenceTtlMs: config.presence.ttl_ms,
    agentsCreateUnder: config.knowledge.agents_create_under,
    patience: {
      stuckAfterMs: config.sessions.stuck_after_ms,
      offlineAfterMs: config.sessions.offline_after_ms,
      unreadStuckMs: config.sessions.unread_stuck_ms,
    },
  };
  await deps.asks.start();
  await deps.mutes.settleAll();
  const keeper = createTreeKeeper({ ...deps, everyMs: config.knowledge.sweep_ms, onFault });
  await keeper.start();
  const gate = createHub(deps, (call) => {
    callMeter.called(call);
    recordCall(log, call);
  });
  const live = createLive({
    ...deps,
    hub: gate,
    newId: randomUUID,
    version: VERSION,
    commandTimeoutMs: config.live.command_timeout_ms,
    maxConcurrent: config.live.max_concurrent,
    context: (signal = never) => ({ request_id: `live_${randomUUID()}`, signal }),
    onFault,
  });
  const hub = live.watched(gate);
  const postOffice = createPostOffice({
    ...deps,
    hub: () => hub,
    carrier: createLanes({
      perWorkspace: config.queue.tenant_concurrent,
      atOnce: config.queue.concurrent,
    }),
    settings: postSettings(config),
    // Whoever counts what becomes of deliveries attaches here.
    observe: envelopeMeter.queued,
    onFault,
  });
  const wakeProfiles = runtimeProfiles(config);
  const wakerDeps = {
    ...deps,
    doors: createDoors({
      config: config.wake,
      profiles: wakeProfiles,
      commander: deps.commander,
      context: (signal) => ({ request_id: `wake_${randomUUID()}`, signal }),
      desk: deps.wakeDesk,
      clock,
    }),
    settings: wakeSettings(config.wake),
    wakeProfiles,
    onFault,
  };
  const waker = createWaker(wakerDeps);
  const callFollower = createCallFollower({ ...wakerDeps, waker, graceMs: config.wake.grace_ms });
  const notifier = createNotifier({ ...deps, settings: notifySettings(config.notify), onFault });
  const verifier = createVerifier({ config, now: clock.now, warn: (message) => log.warn({}, message) });
  const badTokens = createQuota(
    { per_minute: config.quota.bad_tokens_per_minute, burst: config.quota.bad_tokens_burst },
    clock,
  );
  const tokens = createTokenCheck(verifier, badTokens);
  const devices = createDevices({ ...deps, onFault });
  const authenticate = createAuthenticate(tokens, devices);
  const limits = {
    bytes: config.limits.request_bytes,
    depth: config.limits.json_depth,
    items: config.limits.json_items,
  };
  const recheck = (claims: Claims): void =>
    devices.grantOf(claims) === undefined ? verifier.recheck(claims) : devices.recheck(claims);
  const hold = (claims: Claims) => deps.quotas.hold(claims);
  const streams = { recheck, recheckMs: config.auth.recheck_ms, hold };
  const { profile, conformance, session_idle_ms, max_sessions } = config.mcp;
  const mcp = await openMcpFace({
    hub,
    log: deps.log,
    offers: deps.offers,
    // Agents bring tokens; what a browser sends along by itself does not count here.
    authenticate: createAuthenticate(tokens),
    limits,
    version: VERSION,
    streams,
    profile,
    conformance,
    sessions: { idleMs: session_idle_ms, maxSessions: max_sessions },
    now: clock.monotonic,
    onFault: (error) => log.debug({ why: error.message }, 'mcp'),
  });
  const localKey = randomBytes(32).toString('base64url');
  const server = await startServer({
    config,
    faces: [
      mcp,
      createLiveFace({
        live,
        authenticate,
        tokens,
        device: (request) => devices.identify(request),
        limits,
        quota: createQuota(
          { per_minute: config.live.messages_per_minute, burst: config.live.messages_burst },
          clock,
        ),
        settings: config.live,
        streams,
        now: clock.now,
        monotonic: clock.monotonic,
        version: VERSION,
        patienceMs: config.http.shutdown_timeout_ms,
      }),
      createEnvelopeFace({
        hub,
        log: deps.log,
        postOffice,
        artifacts,
        sender: createSenderCheck({ verifier, authenticate, tokens, log: deps.log, now: clock.now }),
        limits,
        settings: config.envelope,
        skewMs: config.auth.clock_skew_ms,
        meter: envelopeMeter,
        now: clock.now,
        monotonic: clock.monotonic,
      }),
      createEventsFace({ ...deps, hub, authenticate, limits, streams, now: clock.now }),
      createV1Face({
        hub,
        log: deps.log,
        offers: deps.offers,
        authenticate,
        limits,
        version: VERSION,
        streams,
      }),
      createLocalTokenFace({
        key: localKey,
        workspace: config.workspace,
        maxLifetimeMs: config.auth.max_lifetime_ms,
        issue: (request) => issueToken(config, request, clock.now()),
        refuse: tokens.refuse,
        limits,
      }),
      createArtifactFace({ store, ...artifacts, onFault }),
      createHealthFace(store),
      createMetricsFace({
        registry: metrics,
        authenticate,
        workspace: config.workspace,
        secret: () => readSecret(config.metrics.token_file, (message) => log.warn({}, message)),
        watchProcess: () => callMeter.watchProcess(),
      }),
      createPagesFace({
        hub,
        authenticate: createAuthenticate(tokens, {
          identify: (request) => devices.identify(request, isOpened),
        }),
      }),
      createDashboardFace({
        files: readWebFiles(),
        devices,
        invitations: deps.invitations,
        tries: createSignInTries(config.quota, clock),
        limits,
        version: VERSION,
        command,
        revoke: (claims, device_id, exchange) =>
          hub.call(claims, 'revoke_device', { device_id }, requestContext(exchange)),
      }),
    ],
    onRefusal: (exchange, error, cause) => recordRefusal(log, exchange, error, cause),
  });
  const found: HubFile = { url: server.url, pid: process.pid, version: VERSION, key: localKey, embedded };
  publishHub(config.data, found, onFault);
  keepReserve(config.data);
  await postOffice.start();
  indexFollower.start();
  if (searches.keepsMessages) messageFollower.start();
  await waker.start();
  if (config.wake.on_call) await callFollower.start();
  await notifier.start();
  return {
    url: server.url,
    invite: (person) =>
      deps.invitations.issue(
        { ...person, name: undefined, read_only: false, grant: { kid: ownKey.kid, devices: [] } },
        LINK_MS,
      ),
    async close() {
      await server.close();
      await postOffice.close();
      await notifier.close();
      await callFollower.close();
      await waker.close();
      deps.asks.close();
      deps.mutes.close();
      keeper.close();
      await indexFollower.close();
      await messageFollower.close();
      await searches.close();
      deps.presence.close();
      await deps.offers.flush();
      sloFile.close();
      stopForgettingKeys();
      await time.close();
      await store.close();
      publishHub(config.data, undefined, onFault);
      keepReserve(config.data);
      lock.release();
    },
  };
}

function describeKeys(folder: string): About['keys'] {
  return readKeyFile(folder).keys.map(({ kid, created_at, retired_at, workspace, private: secret }) => ({
    kid,
    own: secret !== undefined,
    created_at,
    ...(retired_at === undefined ? {} : { retired_at }),
    ...(workspace === undefined ? {} : { workspace }),
  }));
}

function eventLoop(): About['event_loop'] {
  const { active, idle } = performance.eventLoopUtilization();
  return { active_ms: Math.round(active), idle_ms: Math.round(idle) };
}
