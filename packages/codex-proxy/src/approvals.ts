import { showUnseen, errorText, fieldsOf } from '@parley/protocol';
import { type ApprovalDecision, type ApprovalRequest, messageOf, schemaOf } from '@parley/runtimes';

import type { Log } from './logger.ts';
import type { OtherAnswer } from './session-observer.ts';
import type { Params } from './wire/message.ts';
import type { UpstreamAnswer } from './wire/upstream.ts';

export interface ApprovalsDeps {
  ask: (agentId: string | null, params: Params, signal: AbortSignal) => Promise<UpstreamAnswer>;
  agentOf: (threadId: string) => string | undefined;
  identityOf: (agentId: string) => string | undefined;
  /** True while a session waits to learn its thread's id. */
  someStarting: () => boolean;
  /** The same question is put elsewhere at the same time; the first answer counts. */
  elsewhere: (agentId: string, request: ApprovalRequest, signal: AbortSignal) => OtherAnswer | undefined;
  timeoutMs: number;
  log: Log;
}

/** Carries the child's questions to the client and the answers back; no question stays open. */
export interface Approvals {
  take(request: ApprovalRequest): void;
  /** The thread has a session now: what it asked before is carried on. */
  threadKnown(threadId: string): void;
  /** The child waits no longer. */
  withdrawn(id: string): void;
  /** Refuses what a session still asks. */
  refuse(agentId: string): void;
}

/** Every question ends: by its answer, by time, by the session's close, or by the child itself. */
export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { ask, agentOf, identityOf, someStarting, timeoutMs, log } = deps;
  const open = new Map<
    string,
    { agentId: string | null; request: ApprovalRequest; controller: AbortController }
  >();

  let early: ApprovalRequest[] = [];

  const bridge = async (agentId: string | null, request: ApprovalRequest): Promise<void> => {
    const controller = new AbortController();
    open.set(request.id, { agentId, request, controller });
    const timer = setTimeout(() => controller.abort(new Error('timed out')), timeoutMs);
    let decision: ApprovalDecision = 'decline';
    const { signal } = controller;
    try {
      const other = agentId === null ? undefined : deps.elsewhere(agentId, request, signal);
      const identity = agentId === null ? undefined : identityOf(agentId);
      const answered = ask(agentId, questionOf(agentId, identity, request), signal).then(
        async (answer) =>
          // A client with nobody there says so at once; who can see it elsewhere may still answer.
          (saysNothing(answer) && other?.isThere() === true ? await other.answer : undefined) ??
          decisionOf(answer, request),
      );
      decision = await Promise.race([answered, other?.answer.then((given) => given ?? answered) ?? answered]);
    } catch (error) {
      log('warn', 'an approval was refused without an answer', {
        agent_id: agentId,
        kind: request.kind,
        reason: errorText(error),
      });
    } finally {
      clearTimeout(timer);
      open.delete(request.id);
      controller.abort(new Error('answered elsewhere'));
    }
    request.respond(decision);
  };

  /** Its session is about to learn its thread; if it never does, the child must still hear something. */
  const hold = (request: ApprovalRequest): void => {
    early.push(request);
    const timer = setTimeout(() => {
      if (!early.includes(request)) return;
      early = early.filter((one) => one !== request);
      request.respond('decline');
    }, timeoutMs);
    timer.unref();
  };

  const approvals: Approvals = {
    take(request) {
      const agentId = agentOf(request.threadId);
      if (agentId !== undefined) void bridge(agentId, request);
      // What a tool of the child asks outside of any thread.
      else if (request.threadId === '') void bridge(null, request);
      else if (someStarting()) hold(request);
      else {
        log('warn', 'an approval of no session was refused', { thread_id: request.threadId });
        request.respond('decline');
      }
    },
    threadKnown(threadId) {
      const now = early.filter((request) => request.threadId === threadId);
      early = early.filter((request) => request.threadId !== threadId);
      for (const request of now) approvals.take(request);
    },
    withdrawn(id) {
      early = early.filter((request) => request.id !== id);
      open.get(id)?.controller.abort(new Error('withdrawn by Codex'));
    },
    refuse(agentId) {
      for (const { agentId: of, request, controller } of open.values()) {
        if (of !== agentId) continue;
        request.respond('decline');
        controller.abort(new Error('the session was closed'));
      }
    },
  };
  return approvals;
}

/** The question in MCP's form, with the fields that `codex mcp-server` gives its own. */
function questionOf(agentId: string | null, identity: string | undefined, request: ApprovalRequest): Params {
  const who = `agent_id: ${agentId}, identity: ${identity}`;
  const { kind, command, cwd, changes, reason, raw } = request;
  const own = kind === 'command' ? 'exec-approval' : kind === 'patch' ? 'patch-approval' : kind;
  return {
    requestedSchema: schemaOf(request),
    codex_elicitation: own,
    ...(command === undefined ? {} : { codex_command: command }),
    ...(cwd === undefined ? {} : { codex_cwd: cwd }),
    ...(changes === undefined ? {} : { codex_changes: changes }),
    ...(reason === undefined ? {} : { codex_reason: reason }),
    ...(raw.method === 'elicitation/create' ? raw.params : {}),
    // Clients show the message and nothing else.
    message: showUnseen(agentId === null ? messageOf(request) : `${messageOf(request)}\n[${who}]`),
    threadId: request.threadId,
    agent_id: agentId,
    _meta: { ...fieldsOf(raw.params['_meta']), threadId: request.threadId, agent_id: agentId },
  };
}

/** True for an error or a dismissal: nobody has decided. */
function saysNothing(answer: UpstreamAnswer): boolean {
  return 'error' in answer || fieldsOf(answer.result)['action'] === 'cancel';
}

/** Understands MCP's accept, decline and cancel, Codex's own decisions, and the older Approved and Rejected. */
function decisionOf(answer: UpstreamAnswer, { kind }: Pick<ApprovalRequest, 'kind'>): ApprovalDecision {
  if ('error' in answer) return 'decline';
  const { action, content, decision } = fieldsOf(answer.result);
  if (action !== undefined && action !== 'accept') return 'decline';
  const filled = fieldsOf(content);
  const word = decision ?? filled['decision'];
  if (word !== undefined && kind !== 'mcp_elicitation' && kind !== 'user_input') return ofWord(word);
  if (action !== 'accept') return 'decline';
  if (kind === 'mcp_elicitation') return { content: filled };
  if (kind !== 'user_input') return 'accept';
  return {
    answers: Object.fromEntries(
      Object.entries(filled).map(([id, value]) => [id, (Array.isArray(value) ? value : [value]).map(String)]),
    ),
  };
}

function ofWord(word: unknown): ApprovalDecision {
  if (word !== null && typeof word === 'object') {
    const { rejection } = fieldsOf(fieldsOf(word)['denied']);
    return typeof rejection === 'string' ? { text: rejection } : 'decline';
  }
  switch (String(word).toLowerCase()) {
    case 'approved':
    case 'accept':
      return 'accept';
    case 'approved_for_session':
    case 'accept_for_session':
    case 'acceptforsession':
      return 'accept_for_session';
    case 'abort':
    case 'cancel':
      return 'cancel';
    default:
      return 'decline';
  }
}
