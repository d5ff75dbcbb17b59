import { issueOf } from './mail/run-mail-tool.ts';
import { errorText, fieldsOf } from '@parley/protocol';
import type { ChildExit, CodexFacts } from '@parley/runtimes';
import type { z } from 'zod';

import { auditedCall } from './audit/audited-call.ts';
import { invalidParams, methodNotFound } from './errors.ts';
import type { Events } from './events.ts';
import type { Bridge } from './hub-bridge/bridge.ts';
import type { MailDelivery } from './mail/mail-delivery.ts';
import type { Caller, PausedCalls } from './modern/paused-calls.ts';
import { discovery, isModern, SERVER_INFO, stamped } from './modern/revision.ts';
import type { Subscriptions } from './modern/subscriptions.ts';
import type { PassThrough } from './pass-through.ts';
import type { Registry } from './registry/open-registry.ts';
import { reported } from './tool-result.ts';
import { closeAgent, listSessions } from './tools/agents.ts';
import { type CodexDeps, startCodex } from './tools/codex.ts';
import { refuseLaunchArguments, replyCodex } from './tools/codex-reply.ts';
import { callMailTool, type ClientMailDeps, isMailTool } from './tools/mail.ts';
import {
  CloseArguments,
  CodexArguments,
  listTools,
  NoArguments,
  OWN_NAMES,
  ReplyArguments,
} from './tools/schemas.ts';
import type { Params } from './wire/message.ts';
import type { UpstreamCall } from './wire/upstream.ts';

/** What is known of the child without waking it. */
interface ChildView {
  facts: () => CodexFacts | undefined;
  exit: () => ChildExit | undefined;
}

export interface AnswerDeps extends CodexDeps, ClientMailDeps {
  child: ChildView;
  mailDelivery: MailDelivery;
  /** The link of the team's mail to the hub, where it is wanted. */
  bridge: Bridge | undefined;
  passThrough: PassThrough;
  pausedCalls: PausedCalls;
  subscriptions: Subscriptions;
  /** Of the last request: a client keeps to one revision. */
  era: { isModern: boolean; allowsBatch: boolean };
  registry: Registry;
  events: Events;
  startedAt: number;
  now: () => Date;
}

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
/** The one revision that has batches. */
const BATCHES = '2025-03-26';

const TOOLS_ONLY = { tools: { listChanged: true } };
const CAPABILITIES = { ...TOOLS_ONLY, logging: {} };
/** What the newest revision no longer has, and what it has for servers alone that declare it. */
const NOT_MODERN = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

const INSTRUCTIONS =
  'Each `codex` call starts a Codex session under an identity of its own and answers with an agent_id. Continue it with `codex-reply`, look with `agent_sessions`, end it with `agent_close`.';

/** Answers what is the proxy's own, and what `codex mcp-server` falls silent on; all else the child answers. */
export function createAnswer(deps: AnswerDeps): (call: UpstreamCall) => Promise<unknown> {
  return async (call) => {
    if (!isModern(call.params)) {
      deps.era.isModern = false;
      if (call.method !== 'tools/call') return answerOther(deps, call);
      return callTool(deps, call.params, {
        signal: call.signal,
        requestId: () => call.id,
        forAgent: () => {},
      });
    }
    deps.era.isModern = true;
    const { id, method, params, signal } = call;
    switch (method) {
      case 'server/discover':
        return stamped(method, discovery(TOOLS_ONLY, INSTRUCTIONS));
      case 'subscriptions/listen':
        return stamped(method, await deps.subscriptions.listen(id, params, signal));
      case 'tools/call':
        return stamped(method, await deps.pausedCalls.run(call, (caller) => callTool(deps, params, caller)));
      default:
        if (NOT_MODERN.has(method)) throw methodNotFound(method);
        return stamped(method, await answerOther(deps, call));
    }
  };
}

/** Made when a client first asks. */
let tools: ReturnType<typeof listTools> | undefined;
const ownTools = (): ReturnType<typeof listTools> => (tools ??= listTools());

async function answerOther(deps: AnswerDeps, { method, params, signal }: UpstreamCall): Promise<unknown> {
  switch (method) {
    case 'initialize':
      return initialize(deps, params);
    case 'ping':
    case 'logging/setLevel':
      return {};
    case 'tools/list':
      return { tools: [...ownTools(), ...(await deps.passThrough.tools(OWN_NAMES))] };
    case 'resources/list':
      return { resources: [] };
    case 'resources/templates/list':
      return { resourceTemplates: [] };
    case 'prompts/list':
      return { prompts: [] };
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
    case 'prompts/get':
    case 'completion/complete':
    case 'server/discover':
    case 'subscriptions/listen':
      throw methodNotFound(method);
    default:
      return deps.passThrough.request(method, params, signal);
  }
}

function initialize({ era }: AnswerDeps, params: Params) {
  const asked = params['protocolVersion'];
  const protocolVersion = typeof asked === 'string' && VERSIONS.includes(asked) ? asked : VERSIONS[0];
  era.allowsBatch = protocolVersion === BATCHES;
  return {
    protocolVersion,
    capabilities: CAPABILITIES,
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
  };
}

/** Tools whose turns are on record. */
const TAKES_TURN = new Set<unknown>(['codex', 'codex-reply']);
const LOOKS = new Set<unknown>(['agent_sessions', 'agent_status']);

async function callTool(deps: AnswerDeps, params: Params, caller: Caller): Promise<unknown> {
  const { name, arguments: args = {} } = params;
  if (isMailTool(name)) return callMailTool(deps, String(name), args);
  const { identity, agent_id: agentId } = fieldsOf(args);
  return auditedCall(deps.audit, { tool: name, identity, agentId }, async (note) => {
    if (!TAKES_TURN.has(name)) note({}, LOOKS.has(name));
    return runTool(deps, params, caller);
  });
}

async function runTool(deps: AnswerDeps, params: Params, caller: Caller): Promise<unknown> {
  const { name, arguments: args = {} } = params;
  switch (name) {
    case 'codex':
      return startCodex(deps, parse(CodexArguments, args), caller);
    case 'codex-reply':
      refuseLaunchArguments(args);
      return replyCodex(deps, parse(ReplyArguments, args), caller);
    case 'agent_sessions':
      parse(NoArguments, args);
      return reported(
        listSessions(
          deps.sessions,
          (agentId) => deps.events.dropped(agentId),
          (agentId) => deps.mailDelivery.counts(agentId),
        ),
      );
    case 'agent_status':
      parse(NoArguments, args);
      return reported(await statusOf(deps));
    case 'agent_close':
      return reported(await closeAgent(deps.sessions, parse(CloseArguments, args)));
    default:
      if (typeof name !== 'string') throw invalidParams('name is no string');
      return deps.passThrough.callTool(params, caller.signal);
  }
}

async function statusOf(deps: AnswerDeps) {
  const { child, settings, sessions, identities, events, registry, startedAt, now } = deps;
  const facts = child.facts();
  const exit = child.exit();
  return {
    child: {
      alive: facts !== undefined && exit === undefined,
      pid: facts?.pid ?? null,
      backend: facts?.backend ?? null,
      reason: facts?.reason ?? null,
      version: facts?.version ?? null,
      exit_code: exit?.code ?? null,
      signal: exit?.signal ?? null,
    },
    team: settings.team,
    identity: settings.identity,
    uptime_secs: Math.floor((now().getTime() - startedAt) / 1_000),
    active_threads: sessions.active().length,
    max_concurrent_threads: settings.max_concurrent_threads,
    identities: identities.bindings().map((bound) => ({
      ...bound,
      status: sessions.live(bound.agent_id)?.record().status ?? null,
    })),
    dropped_events: events.droppedInAll(),
    registry_error: registry.failure() ?? null,
    ...(await mailStatus(deps)),
    bridge: deps.bridge?.status() ?? null,
  };
}

/** What is unread for the identities of this proxy, and what was brought so far. */
async function mailStatus({ mail, mailDelivery, settings, identities }: AnswerDeps) {
  const names = new Set([settings.identity, ...identities.bindings().map(({ identity }) => identity)]);
  const counts = await Promise.allSettled([...names].map((identity) => mail.pending(identity)));
  const failure = counts.find((one) => one.status === 'rejected');
  return {
    pending_mail: counts.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0),
    mail: mailDelivery.totals(),
    mail_held: mailDelivery
      .holds()
      .map(({ message_ids, ...hold }) => ({ ...hold, messages: message_ids.length })),
    mail_error: failure === undefined ? null : errorText(failure.reason),
  };
}

function parse<S extends z.ZodType>(schema: S, args: unknown): z.output<S> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  throw invalidParams(`Invalid arguments: ${issueOf(parsed.error, args)}`);
}
