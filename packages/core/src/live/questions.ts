import { type Caller, isOpaque, LiveError, type LiveMessage } from '@parley/protocol';

import type { Link, Speaker } from './link.ts';
import type { Outgoing } from './outgoing.ts';
import type { Roster } from './roster.ts';

/** A command or a status request on its way to an agent and back. */
export interface Question {
  asker: Speaker;
  /** The asker's own id for it; the agent sees another, so that equal ids of two askers never meet. */
  requestId: string;
  target: string;
  message: LiveMessage<'command' | 'status_request'>;
  /** It is on record and may be sent. */
  ready: boolean;
  /** It was answered, timed out or was given up. */
  closed: boolean;
  /** Where it was sent; undefined while the agent is away. */
  sentOn: Link | undefined;
  /** The agent has it: it is not sent again, whatever becomes of the connection. */
  received: boolean;
  timer: NodeJS.Timeout;
}

interface Counts {
  /** Questions that are not answered yet. */
  questions: number;
  /** Answers that came when the asker had already been told of the time-out. */
  late_responses: number;
  /** Answers to nothing that was asked. */
  unknown_responses: number;
}

/** What was asked of agents and is not answered yet. */
export interface Questions {
  ask(
    asker: Speaker,
    target: string,
    original: LiveMessage<'command' | 'status_request'>,
    timeoutMs?: number,
  ): Question;
  /** The open question that an agent answers; undefined, and counted, when there is none. */
  take(agent: Caller, id: string): Question | undefined;
  has(agent: Caller, id: string): boolean;
  /** True when this asker has asked just this of the agent, under this id, and waits for the answer. */
  repeated(asker: Caller, target: string, requestId: string): boolean;
  /** Open questions to an agent, oldest first. */
  open(workspaceId: string, agentId: string, type: 'command' | 'status_request'): Question[];
  /** Sends what waits for this agent, each question once. */
  deliver(workspaceId: string, agentId: string): void;
  /** A connection is gone: what it may not have received waits for the next. */
  lost(link: Link): void;
  answer(question: Question, message: LiveMessage): void;
  drop(question: Question): void;
  /** How it stands in one workspace. */
  counts(workspaceId: string): Counts;
  readonly size: number;
}

/** How many ids of timed-out questions are remembered, to tell a late answer from a stray one. */
const REMEMBERED = 10_000;

export function createQuestions(deps: { roster: Roster; outgoing: Outgoing; timeoutMs: number }): Questions {
  const { roster, outgoing } = deps;
  const byId = new Map<string, Question>();
  const byAgent = new Map<string, Set<Question>>();
  const asked = new Set<string>();
  const timedOut = new Set<string>();
  const strayByWorkspace = new Map<string, Omit<Counts, 'questions'>>();

  function strayOf(workspaceId: string): Omit<Counts, 'questions'> {
    const known = strayByWorkspace.get(workspaceId) ?? { late_responses: 0, unknown_responses: 0 };
    strayByWorkspace.set(workspaceId, known);
    return known;
  }

  function drop(question: Question): void {
    const { asker, target, requestId, message } = question;
    clearTimeout(question.timer);
    question.closed = true;
    byId.delete(message.id);
    asked.delete(askerKey(asker.caller, target, requestId));
    const key = agentKey(asker.caller.workspace_id, target);
    const own = byAgent.get(key);
    own?.delete(question);
    if (own?.size === 0) byAgent.delete(key);
  }

  function timeOut(question: Question, timeoutMs: number): void {
    drop(question);
    timedOut.add(question.message.id);
    if (timedOut.size > REMEMBERED) timedOut.delete(timedOut.values().next().value ?? '');
    const error = new LiveError('TASK_TIMEOUT', `${question.target} did not answer in ${timeoutMs} ms`, {
      timeout: timeoutMs,
      agentId: question.target,
    });
    answer(question, outgoing.error(error, question.asker.caller.agent_id, question.requestId));
  }

  /** An asker that has reconnected meanwhile gets its answer where it is now. */
  function answer({ asker }: Question, message: LiveMessage): void {
    if (asker.listening) asker.reply(message);
    else roster.session(asker.caller)?.send(message);
  }

  function deliver(workspaceId: string, agentId: string): void {
    const link = roster.current(workspaceId, agentId);
    if (link === undefined) return;
    for (const question of byAgent.get(agentKey(workspaceId, agentId)) ?? []) {
      if (!question.ready || question.sentOn !== undefined) continue;
      question.sentOn = link;
      link.send(question.message);
      link.confirm(() => {
        if (question.sentOn === link) question.received = true;
      });
    }
  }

  return {
    ask(asker, target, original, timeoutMs = deps.timeoutMs) {
      const { agent_id, workspace_id, role } = asker.caller;
      const question: Question = {
        asker,
        requestId: original.id,
        target,
        message: {
          ...outgoing.message(original.type, agent_id, target, original.payload ?? {}),
          // What may be done in its name depends on who asks; the agent cannot know it otherwise.
          sourceRole: role,
        },
        ready: false,
        closed: false,
        sentOn: undefined,
        received: false,
        timer: setTimeout(() => timeOut(question, timeoutMs), timeoutMs),
      };
      byId.set(question.message.id, question);
      asked.add(askerKey(asker.caller, target, original.id));
      const key = agentKey(workspace_id, target);
      const own = byAgent.get(key);
      if (own === undefined) byAgent.set(key, new Set([question]));
      else own.add(question);
      return question;
    },
    has: (agent, id) => isFor(byId.get(id), agent),
    take(agent, id) {
      const question = byId.get(id);
      if (!isFor(question, agent)) {
        const stray = strayOf(agent.workspace_id);
        if (timedOut.has(id)) stray.late_responses++;
        else stray.unknown_responses++;
        return undefined;
      }
      drop(question);
      return question;
    },
    repeated: (asker, target, requestId) => asked.has(askerKey(asker, target, requestId)),
    open: (workspaceId, agentId, type) =>
      [...(byAgent.get(agentKey(workspaceId, agentId)) ?? [])].filter(({ message }) => message.type === type),
    deliver,
    lost(link) {
      const { workspace_id, agent_id } = link.caller;
      for (const question of byAgent.get(agentKey(workspace_id, agent_id)) ?? [])
        if (question.sentOn === link && !question.received) question.sentOn = undefined;
      deliver(workspace_id, agent_id);
    },
    answer,
    drop,
    counts(workspaceId) {
      const own = [...byId.values()].filter(({ asker }) => asker.caller.workspace_id === workspaceId);
      return { questions: own.length, ...strayOf(workspaceId) };
    },
    get size() {
      return byId.size;
    },
  };
}

/** The id of the question that a message answers, when it says so. */
export function answered(message: LiveMessage): string | undefined {
  const { payload } = message;
  if (isOpaque(payload)) return payload.requestId;
  if (message.type === 'command_response' || message.type === 'status_update')
    return (payload as { requestId?: string }).requestId;
  if (message.type !== 'error') return undefined;
  const { details } = payload as { details?: unknown };
  const id = details !== null && typeof details === 'object' ? Object.entries(details) : [];
  const found = id.find(([name]) => name === 'requestId')?.[1];
  return typeof found === 'string' ? found : undefined;
}

function isFor(question: Question | undefined, agent: Caller): question is Question {
  return (
    question !== undefined &&
    question.target === agent.agent_id &&
    question.asker.caller.workspace_id === agent.workspace_id
  );
}

function agentKey(workspaceId: string, agentId: string): string {
  return `${workspaceId} ${agentId}`;
}

function askerKey({ workspace_id, agent_id, session_id }: Caller, target: string, requestId: string): string {
  return `${workspace_id} ${agent_id} ${session_id} ${target} ${requestId}`;
}
