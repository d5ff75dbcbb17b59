import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { type ChildExit, type CodexFacts, openCodex } from '@parley/runtimes';

import { type AnswerDeps, createAnswer } from './answer.ts';
import { openAudit } from './audit/open-audit.ts';
import { createApprovals } from './approvals.ts';
import type { LoadedConfig } from './config/load.ts';
import { createEvents } from './events.ts';
import { createHubAccess } from './hub-link/hub-access.ts';
import { createHubLink } from './hub-link/hub-link.ts';
import { createIdentities } from './identity/identities.ts';
import type { Log } from './logger.ts';
import { openRegistry } from './registry/open-registry.ts';
import { resumeAtStart } from './session/resume-at-start.ts';
import { createSessions } from './session/sessions.ts';
import { VERSION } from './version.ts';
import { createFrameWriter } from './wire/frame-writer.ts';
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
}

/** The running proxy. */
export interface Proxy {
  /** Closes every session with a summary as far as time allows, then the child; the same promise every time. */
  stop(): Promise<void>;
}

/** How long an interrupted turn may take to hand over what it had. */
const GRACE_MS = 1_000;

/** How long the last answers may take to reach the client. */
const FLUSH_MS = 500;

/** What belongs to the client's own session and is no business of Codex. */
const PRIVATE = /^(CLAUDECODE$|CLAUDE_CODE_)/;

/** Builds the proxy from the inside out and connects it to its client. */
export async function startProxy({
  config,
  env,
  cwd,
  input,
  output,
  log,
  resume,
}: StartOptions): Promise<Proxy> {
  const { settings, places, roles } = config;
  const now = (): Date => new Date();
  const teamFolder = join(places.sessions, settings.team);
  const identities = createIdentities(places.sessions, settings.team);
  identities.hold(settings.identity);
  const registry = await openRegistry(join(teamFolder, settings.identity, 'registry.json'), log, now);
  const audit = openAudit(join(teamFolder, 'audit.jsonl'), settings.team, log, now);

  const hubLink = settings.hub_enabled
    ? createHubLink({
        access: createHubAccess({
          data: settings.hub_data ?? places.hub,
          url: settings.hub_url,
          tokenFile: settings.hub_token_file,
          workspace: settings.hub_workspace,
        }),
        askMs: settings.approval_timeout_secs * 1_000,
        log,
      })
    : undefined;

  let facts: CodexFacts | undefined;
  let exit: ChildExit | undefined;
  const codex = openCodex({
    bin: binaryOf(settings.codex_bin, config, cwd),
    env: childEnvironment(env),
    // What a repository brings along is read for its own threads only, never for the child itself.
    cwd: places.home,
    backend: settings.transport,
    clientInfo: { name: 'atm-agent-mcp', title: 'atm-agent-mcp', version: VERSION },
    onEvent: (event) => events.take(event),
    onApproval: (request) => approvals.take(request),
    onApprovalClosed: (id) => approvals.withdrawn(id),
    onExit(how) {
      exit = how;
      log('warn', 'the Codex process ended', { exit_code: how.code, signal: how.signal });
      sessions.childDied();
      hubLink?.childDied();
    },
    log,
  });
  const agentOf = (threadId: string): string | undefined => sessions.ofThread(threadId)?.agentId;
  const sessions = createSessions({
    async awake() {
      facts = await codex.start();
      return codex;
    },
    forgetful: () => (facts?.can.resume === true && exit === undefined ? codex : undefined),
    registry,
    identities,
    audit,
    limits: {
      turnMs: settings.request_timeout_secs * 1_000,
      graceMs: GRACE_MS,
      closeMs: settings.summary_timeout_secs * 1_000,
    },
    maxSessions: settings.max_concurrent_threads,
    folder: teamFolder,
    now,
    newAgentId: () => `codex:${randomUUID()}`,
    log,
    threadKnown(threadId) {
      events.threadKnown(threadId);
      approvals.threadKnown(threadId);
    },
    refuseApprovals: (agentId) => approvals.refuse(agentId),
    onlooker: hubLink,
  });
  const someStarting = (): boolean => sessions.active().some((session) => session.threadId() === undefined);
  const writer = createFrameWriter(output, settings.max_event_backlog_bytes);
  const events = createEvents({
    notify: (method, params) => upstream.notify(method, params),
    agentOf,
    someStarting,
    heard: (agentId, event) => hubLink?.event(agentId, event),
  });
  const deps: AnswerDeps = {
    settings,
    log,
    roles,
    configFolder: config.repoRoot ?? places.atm,
    sessions,
    cwd,
    home: places.home,
    child: { facts: () => facts, exit: () => exit },
    registry,
    identities,
    events,
    startedAt: Date.now(),
    now,
  };
  const answer = createAnswer(deps);
  const upstream = createUpstream({
    writer,
    maxMessageBytes: settings.max_message_bytes,
    answer,
    hear: (method) => log('debug', 'a notification was heard', { method }),
    log,
  });
  const approvals = createApprovals({
    ask: (method, params, signal) => upstream.ask(method, params, signal),
    agentOf,
    someStarting,
    elsewhere: (...question) => hubLink?.asked(...question),
    timeoutMs: settings.approval_timeout_secs * 1_000,
    log,
  });

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
    await sessions.closeAll();
    await Promise.all([codex.close(), hubLink?.close()]);
    identities.close();
    audit.close();
    if (output.writableLength > 0) await Promise.race([once(output, 'drain'), sleep(FLUSH_MS)]);
  };
  return { stop: () => (stopping ??= stop()) };
}

/** A path is meant from where it was written: the repository's file, or where the proxy was started. */
function binaryOf(bin: string, { origins, repoRoot }: LoadedConfig, cwd: string): string {
  if (!/[\\/]/.test(bin)) return bin;
  return resolve(origins.get('codex_bin') === 'repo' ? (repoRoot ?? cwd) : cwd, bin);
}

function childEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return value !== undefined && !PRIVATE.test(name);
    }),
  );
}
