import { randomBytes, randomUUID } from 'node:crypto';

import {
  countOpenAsks,
  createWindow,
  type DeliveryQueue,
  type Hub,
  issuePasskeyCode,
  type StateFiles,
  type Live,
  type Nodes,
  type Ports,
  type Quota,
  type SharedSpending,
} from '@parley/core';
import type { Claims } from '@parley/protocol';

import type { OpenedArtifacts } from './artifacts/open-artifacts.ts';
import { createAuthenticate } from './auth/authenticate.ts';
import { issueToken } from './auth/issue-token.ts';
import { isOpened } from './auth/same-origin.ts';
import { createSenderCheck } from './auth/sender.ts';
import { createSignInTries } from './auth/sign-in-tries.ts';
import type { Config } from './config/schema.ts';
import { createDeprecations } from './deprecations.ts';
import { createArtifactFace } from './faces/artifacts/face.ts';
import { createDashboardFace } from './faces/dashboard/face.ts';
import { readWebFiles } from './web-files.ts';
import { createDocumentationFace } from './faces/documentation/face.ts';
import { createEnvelopeFace } from './faces/envelope/face.ts';
import { createEventsFace } from './faces/events/face.ts';
import { createHealthFace } from './faces/health.ts';
import { createLocalFace } from './faces/local/face.ts';
import { createMcpFace } from './faces/mcp/face.ts';
import { createMetricsFace } from './faces/metrics/face.ts';
import { createPagesFace } from './faces/pages/face.ts';
import { createTerminalFace } from './faces/terminal/face.ts';
import { createV1Face } from './faces/v1/face.ts';
import { createLiveFace } from './faces/ws/face.ts';
import type { Logger } from './logger.ts';
import { createTunnel } from './nodes/tunnel.ts';
import { scraperSecret } from './metrics/scraper-secret.ts';
import type { Oidc } from './oidc/open-oidc.ts';
import { requestContext } from './request-context.ts';
import type { Face } from './server.ts';
import type { Auth, HandedOver } from './start-auth.ts';
import type { Metrics } from './start-metrics.ts';
import { VERSION } from './version.ts';

/** What the faces of a hub stand on. */
export interface FacesDeps {
  ports: Ports;
  hub: Hub;
  live: Live;
  /** The other nodes, where there are any, and what callers have spent there. */
  nodes: Nodes | undefined;
  spending: SharedSpending | undefined;
  auth: Auth;
  oidc: Oidc | undefined;
  artifacts: OpenedArtifacts;
  /** Where this very process listens: what another node carries here is made anew to it. */
  ofProcess: () => string;
  stateFiles: StateFiles;
  deliveryQueue: DeliveryQueue;
  metrics: Metrics;
  logger: Logger;
  /** How the person who started the hub types this program. */
  command: string;
  onFault: (error: unknown) => void;
}

/** Every face of the hub, in the order in which a path is offered to them, and the key of the local one. */
export function createFaces(config: Config, deps: FacesDeps): { faces: Face[]; localKey: string } {
  const { ports, hub, live, auth, oidc, artifacts, metrics, logger, onFault } = deps;
  const { log, clock, chance, offers, store, presence, quotas } = ports;
  const { tokens, devices, authenticate, recheck } = auth;
  const limits = {
    bytes: config.limits.request_bytes,
    depth: config.limits.json_depth,
    items: config.limits.json_items,
  };
  const hold = (claims: Claims): (() => void) => {
    const leave = quotas.hold(claims);
    const gone = presence.connect({ workspace_id: claims.workspace_id, agent_id: claims.agent_id });
    return () => {
      gone();
      leave();
    };
  };
  const streams = { recheck, recheckMs: config.auth.recheck_ms, hold };
  const { profile, session_idle_ms, max_sessions } = config.mcp;
  const { nodes, spending } = deps;
  const tunnel = nodes && createTunnel(nodes, deps.ofProcess);
  const share = (kind: string, quota: Quota): Quota => spending?.quota(kind, quota) ?? quota;
  const isSecure = config.tls.cert !== '';
  const deprecations = createDeprecations(config.http.deprecated);
  const localKey = randomBytes(32).toString('base64url');
  const tries = createSignInTries(config.quota, clock, share);
  const faces = [
    ...(oidc === undefined ? [] : [oidc.face({ devices, tries, isOutside: auth.verifier.isOutside })]),
    createMcpFace({
      surface: async () => {
        const { createHubSurface } = await import('./faces/mcp/hub-surface.ts');
        return createHubSurface({ hub, log, offers, profile, version: VERSION, deprecations });
      },
      // Agents bring tokens; what a browser sends along by itself does not count here.
      authenticate: createAuthenticate(tokens),
      challenge: oidc?.challenge,
      limits,
      streams,
      sessions: { idleMs: session_idle_ms, maxSessions: max_sessions },
      ...(nodes && tunnel && { nodes: { own: nodes.bus.node, tunnel } }),
      now: clock.monotonic,
      onFault: (error) => logger.debug({ why: error.message }, 'mcp'),
    }),
    createLiveFace({
      hub,
      deprecations,
      live,
      context: (signal) => ({ request_id: `live_${randomUUID()}`, signal }),
      authenticate,
      tokens,
      device: (request) => devices.identify(request),
      limits,
      ...(nodes &&
        tunnel && {
          nodes: {
            own: nodes.bus.node,
            calls: nodes.calls,
            handOver: auth.handOver,
            // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
            takeOver: (handed: unknown) => auth.takeOver(handed as HandedOver),
            tunnel,
          },
        }),
      quota: share(
        'live',
        createWindow(
          { per_minute: config.live.messages_per_minute, burst: config.live.messages_burst },
          clock,
        ),
      ),
      agentQuota: share(
        'live agents',
        createWindow(
          { per_minute: config.live.agent_messages_per_minute, burst: config.live.agent_messages_burst },
          clock,
        ),
      ),
      settings: config.live,
      streams,
      clock,
      version: VERSION,
      isSecure,
      patienceMs: config.http.shutdown_timeout_ms,
    }),
    createEnvelopeFace({
      hub,
      endings: deprecations,
      log,
      deliveryQueue: deps.deliveryQueue,
      artifacts,
      sender: createSenderCheck({
        verifier: auth.verifier,
        authenticate,
        tokens,
        grantOf: (caller) => auth.authority.of(caller),
        log,
        clock,
        chance,
      }),
      limits,
      settings: config.envelope,
      ...(spending && { share: spending.add }),
      skewMs: config.auth.clock_skew_ms,
      meter: metrics.envelopes,
      clock,
      chance,
    }),
    createEventsFace({
      hub,
      deprecations,
      log,
      feed: ports.feed,
      presence,
      offers,
      authenticate,
      limits,
      streams,
      now: clock.now,
    }),
    createTerminalFace({
      hub,
      live,
      authenticate,
      context: (signal) => ({ request_id: `terminal_${randomUUID()}`, signal }),
      newId: randomUUID,
      streams,
    }),
    createV1Face({
      hub,
      log,
      offers,
      authenticate,
      limits,
      documentBytes: Math.max(config.limits.request_bytes, config.limits.document_request_bytes),
      version: VERSION,
      isSecure,
      deprecations,
      streams,
    }),
    createLocalFace({
      key: localKey,
      workspace: config.workspace,
      maxLifetimeMs: config.auth.max_lifetime_ms,
      issue: (request) => issueToken(config, request, clock.now(), deps.stateFiles),
      openAsks: () => countOpenAsks(store),
      passkeyCode: (person, workspaceId) => issuePasskeyCode(ports, person, workspaceId),
      refuse: tokens.refuse,
      limits,
    }),
    createArtifactFace({ store, ...artifacts, onFault }),
    createHealthFace(store, nodes?.bus),
    createMetricsFace({
      registry: metrics.registry,
      authenticate,
      workspace: config.workspace,
      secret: () => scraperSecret(config.metrics.token_file, (message) => logger.warn({}, message)),
      watchProcess: () => metrics.calls.watchProcess(),
    }),
    createPagesFace({
      hub,
      authenticate: createAuthenticate(tokens, {
        identify: (request) => devices.identify(request, isOpened),
      }),
    }),
    createDocumentationFace(),
    createDashboardFace({
      files: readWebFiles(),
      devices,
      invitations: auth.invitations,
      tries,
      signInAt: oidc?.signInAt,
      limits,
      version: VERSION,
      command: deps.command,
      async revoke(claims, device_id, exchange) {
        const person = devices.grantOf(claims)?.person;
        await hub.call(claims, 'revoke_device', { device_id }, requestContext(exchange));
        // Whoever an issuer signed in leaves every workspace with every device.
        if (person !== undefined) await oidc?.people.end(person);
      },
    }),
  ];
  return { faces, localKey };
}
