import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { type AnswerDeps, createAnswer } from './answer.ts';
import { openAudit } from './audit/open-audit.ts';
import { createApprovals } from './approvals.ts';
import type { LoadedConfig } from './config/load.ts';
import { RPC } from './errors.ts';
import { createEvents } from './events.ts';
import { createClosingMark } from './finisher/closing-mark.ts';
import { boundsOf } from './finisher/finish-sessions.ts';
import { type OwnProgram, startFinisher } from './finisher/start-finisher.ts';
import type { Bridge } from './hub-bridge/bridge.ts';
import type { openTeamBridge } from './hub-bridge/open-team-bridge.ts';
import { accessOf } from './hub-link/hub-access.ts';
import { createHubLink } from './hub-link/hub-link.ts';
import { createIdentities } from './identity/identities.ts';
import { createTeamNames } from './identity/team-names.ts';
import type { Log } from './logger.ts';
import { createPausedCalls } from './modern/paused-calls.ts';
import { createSubscriptions } from './modern/subscriptions.ts';
import { openChild } from './open-child.ts';
import { createPassThrough } from './pass-through.ts';
import { createMailDelivery } from './mail/mail-delivery.ts';
import { createMailBudget } from './mail/mail-budget.ts';
import { createMembership } from './mail/membership.ts';
import { openTeamMail } from './mail/open-team-mail.ts';
import { pruneMailDaily } from './mail/prune-mail.ts';
import { createSessionServer } from './mail/session-server.ts';
import { createLeftBehind } from './registry/left-behind.ts';
import { createTellHold } from './mail/tell-hold.ts';
import { openRegistry } from './registry/open-registry.ts';
import { resumeAtStart } from './session/resume-at-start.ts';
import { createSessions } from './session/sessions.ts';
import { OWN_NAMES } from './tools/schemas.ts';
import { createFrameWriter } from './wire/frame-writer.ts';
import type { Params } from './wire/message.ts';
import { createUpstream } from './wire/upstream.ts';

export interface StartOptions {
  config: LoadedConfig;
  env: NodeJS.ProcessEnv;
  cwd: string;
  input: Readable;
  output: Writable;
  log: Log;
  /** The session to open at once: the newest of this identity, or the one of that id. */
  resume?: string | true | undefined;
  /** This program, which finishes what there is no time for. */
  program: OwnProgram;
}

/** The running proxy. */
export interface Proxy {
  /** Closes every session with a summary as far as time allows, then the child; the same promise every time. */
  stop(): Promise<void>;
}

/** How long an interrupted turn may take to hand over what it had. */
const GRACE_MS = 1_000;

const TOOLS_CHANGED = 'notifications/tools/list_changed';
const LOGGED = 'notifications/message';

/** Newer clients are asked in answers alone, and only of their agents. */
const UNASKABLE = { code: RPC.methodNotFound, message: 'the client of this server cannot be asked' };

/** How long the last answers may take to reach the client. */
const FLUSH_MS = 500;

/** Builds the proxy from the inside out and connects it to its client. */
export async function startProxy({
  config,
  env,
  cwd,
  input,
  output,
  log,
  resume,
  program,
}: StartOptions): Promise<Proxy> {
  const { settings, places, roles } = config;
  const now = (): Date => new Date();
  const teamFolder = join(places.sessions, settings.team);
  const identities = createIdentities(places.sessions, settings.team);
  const mail = openTeamMail(config, log);
  const names = createTeamNames(mail, settings);
  await names.check(settings.identity);
  const closingMark = createClosingMark(teamFolder, settings.identity);
  await closingMark.holdWhenFree(identities, settings.identity, log);
  closingMark.clear();
  const registry = await openRegistry(join(teamFolder, settings.identity, 'registry.json'), log, now);
  const audit = openAudit(join(teamFolder, 'audit.jsonl'), settings.team, log, now);
  const membership = createMembership(mail, log, settings.identity);
  const sessionServer = createSessionServer({ mail, audit, names }, log);
  const mailDelivery = createMailDelivery({
    mail,
    names,
    settings,
    budget: createMailBudget(settings, now),
    onHold: createTellHold({
      audit,
      notify: (method, params) => void notify(method, params),
      tellOthers: (agentId, warning, facts) => hubLink?.warned(agentId, warning, facts),
      newId: randomUUID,
      log,
    }),
    notify: (identity, agentId, unread) =>
      notify(LOGGED, {
        level: 'info',
        logger: 'mail',
        data: { identity, agent_id: agentId, unread },
      }),
    log,
  });

  const hubLink = settings.hub_enabled
    ? createHubLink({ access: accessOf(config), askMs: settings.approval_timeout_secs * 1_000, log })
    : undefined;
  const bridge =
    settings.hub_enabled && settings.hub_bridge ? await openBridge(config, mail, log) : undefined;
  bridge?.ended.catch((error: Error) =>
    log('error', 'the link of team mail to the hub ended', { reason: error.message }),
  );

  const child = openChild({
    config,
    env,
    log,
    onEvent: (event) => events.take(event),
    onApproval(request) {
      const { threadId, turnId, raw } = request;
      // mcp-server tells of it in an event of its own.
      if (child.facts()?.can.mcp !== true) events.take({ threadId, turnId, ...raw });
      approvals.take(request);
    },
    onApprovalClosed: (id) => approvals.withdrawn(id),
    onRequest: async (method, params, signal) =>
      era.isModern ? { error: UNASKABLE } : upstream.ask(method, params, signal),
    onStart: () => void tellTools(),
    onExit() {
      sessions.childDied();
      hubLink?.childDied();
    },
  });
  const passThrough = createPassThrough({
    codex: child.codex,
    living: () => child.living(),
    timeoutMs: settings.request_timeout_secs * 1_000,
    log,
  });
  const agentOf = (threadId: string): string | undefined => sessions.ofThread(threadId)?.agentId;
  const leftBehind = createLeftBehind(teamFolder, log, now);
  const sessions = createSessions({
    awake: () => child.awake(),
    forgetful: () => (child.living()?.can.resume === true ? child.codex : undefined),
    registry,
    identities,
    names,
    audit,
    mailDelivery,
    membership,
    sessionServer,
    limits: {
      turnMs: settings.request_timeout_secs * 1_000,
      graceMs: GRACE_MS,
      closeMs: settings.summary_timeout_secs * 1_000,
    },
    maxSessions: settings.max_concurrent_threads,
    leftBehind,
    now,
    newAgentId: () => `codex:${randomUUID()}`,
    newMailKey: () => randomBytes(16).toString('hex'),
    log,
    threadKnown(threadId) {
      events.threadKnown(threadId);
      approvals.threadKnown(threadId);
    },
    refuseApprovals: (agentId) => approvals.refuse(agentId),
    observer: hubLink,
  });
  const era = { isModern: false, allowsBatch: false };
  const pausedCalls = createPausedCalls(
    (settings.request_timeout_secs + settings.approval_timeout_secs) * 1_000,
  );
  const subscriptions = createSubscriptions((method, params) => upstream.notify(method, params));
  /** Clients of the newest revision hear of tools by subscription, and get log messages only where they ask for them. */
  const notify = (method: string, params: Params): boolean => {
    if (!era.isModern || (method !== TOOLS_CHANGED && method !== LOGGED))
      return upstream.notify(method, params);
    if (method === TOOLS_CHANGED) subscriptions.toolsChanged();
    return true;
  };
  /** What the child has beyond the proxy's own tools was not in the list before it ran. */
  const tellTools = async (): Promise<void> => {
    if ((await passThrough.tools(OWN_NAMES)).length > 0) notify(TOOLS_CHANGED, {});
  };
  const someStarting = (): boolean => sessions.active().some((session) => session.threadId() === undefined);
  const writer = createFrameWriter(output, settings.max_event_backlog_bytes, (text) =>
    log('trace', 'to the client', { text }),
  );
  const events = createEvents({
    notify,
    isMcp: () => child.facts()?.can.mcp === true,
    agentOf,
    requestOf: (agentId) => sessions.live(agentId)?.requestId(),
    someStarting,
    heard: (agentId, event) => hubLink?.event(agentId, event),
  });
  const deps: AnswerDeps = {
    settings,
    log,
    roles,
    paths: config.paths,
    sessions,
    leftBehind,
    isFixed: (threadId) =>
      child.living()?.can.resume === false && child.codex.status(threadId) !== 'not_loaded',
    cwd,
    home: places.home,
    child,
    passThrough,
    pausedCalls,
    subscriptions,
    era,
    registry,
    identities,
    names,
    mail,
    audit,
    mailDelivery,
    bridge,
    events,
    startedAt: Date.now(),
    now,
  };
  const answer = createAnswer(deps);
  const upstream = createUpstream({
    writer,
    maxMessageBytes: settings.max_message_bytes,
    answer,
    hear: (method, params) => passThrough.notify(method, params),
    onMessage(bytes) {
      if (settings.log_level === 'trace')
        log('trace', 'from the client', { text: Buffer.from(bytes).toString() });
    },
    allowsBatch: () => era.allowsBatch && !era.isModern,
    log,
  });
  const approvals = createApprovals({
    async ask(agentId, params, signal) {
      if (!era.isModern) return upstream.ask('elicitation/create', params, signal);
      if (agentId === null) throw new Error(UNASKABLE.message);
      return pausedCalls.ask(agentId, params, signal);
    },
    agentOf,
    identityOf: (agentId) => sessions.live(agentId)?.identity,
    someStarting,
    elsewhere: (...question) => hubLink?.asked(...question),
    timeoutMs: settings.approval_timeout_secs * 1_000,
    log,
  });

  const stopPruning = pruneMailDaily(config, log);
  membership.sweep((identity) => identities.isGone(identity));
  membership.join(settings.identity, { cwd, model: settings.model ?? undefined });
  if (resume !== undefined) await resumeAtStart(deps, resume);
  input.on('data', (chunk: Buffer) => {
    upstream.receive(chunk);
    // A client that asks without ever reading is read no further.
    if (writer.backlog() <= 2 * settings.max_event_backlog_bytes) return;
    input.pause();
    output.once('drain', () => input.resume());
  });
  input.on('end', () => upstream.end());

  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    closingMark.set(new Date(Date.now() + boundsOf(settings.summary_timeout_secs).totalMs));
    const isOwed = sessions.active().length > 0;
    const finisher = isOwed ? startFinisher(program, config, env, log) : undefined;
    stopPruning();
    subscriptions.close();
    await sessions.closeAll();
    await bridge?.stop();
    await Promise.all([child.codex.close(), membership.close(), hubLink?.close()]);
    mail.close();
    await sessionServer.close();
    finisher?.callOff();
    closingMark.release(identities);
    audit.close();
    log('info', 'stopped', { dropped_events: events.droppedInAll() });
    writer.flush();
    if (output.writableLength > 0) await Promise.race([once(output, 'drain'), sleep(FLUSH_MS)]);
  };
  return { stop: () => (stopping ??= stop()) };
}

/** Loaded only where it is wanted. */
async function openBridge(...given: Parameters<typeof openTeamBridge>): Promise<Bridge> {
  return (await import('./hub-bridge/open-team-bridge.ts')).openTeamBridge(...given);
}
