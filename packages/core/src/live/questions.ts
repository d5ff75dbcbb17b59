import type { Caller } from '@parley/protocol';

import type { CommandResponse, Outcome, Sealed } from './command-port.ts';
import type { Link } from './link.ts';
import type { LiveStatus, LiveUpdate } from './live-update.ts';
import type { Roster } from './roster.ts';

type Asking = LiveUpdate<'command' | 'status_request'>;
type AnyOutcome = Outcome<{ response: CommandResponse | Sealed } | { status: LiveStatus | Sealed }>;

/** A command or a status request on its way to an agent and back. */
export interface Question {
  asker: Caller;
  /** The asker's own id for it; the agent sees another, so that equal ids of two askers never meet. */
  requestId: string;
  target: string;
  /** The one session of the target that it is for; undefined for whichever is there. */
  session: string | undefined;
  /** What the agent is sent. */
  asking: Asking;
  /** Part of something on record: nobody counts it, and a hub that stops does not wait for it. */
  aside: boolean;
  /** It is on record and may be sent. */
  ready: boolean;
  /** It was answered, timed out or was given up. */
  closed: boolean;
  /** Where it was sent; undefined while the agent is away. */
  sentOn: Link | undefined;
  /** The agent has it: it is not sent again, whatever becomes of the connection. */
  received: boolean;
  timer: NodeJS.Timeout;
  outcome: Promise<AnyOutcome>;
  /** Tells the asker what has become of it. */
  end: (outcome: AnyOutcome) => void;
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
    about: Pick<Question, 'asker' | 'requestId' | 'target' | 'session' | 'asking' | 'aside'>,
    timeoutMs?: number,
  ): Question;
  /** The open question that an agent answers, of that type alone where one is named; undefined, and counted, when there is none. */
  take(agent: Caller, id: string, type?: Asking['type']): Question | undefined;
  has(agent: Caller, id: string): boolean;
  /** What this asker has asked of the agent under this id, while it is open. */
  asked(asker: Caller, target: string, requestId: string): Question | undefined;
  /** Open questions to an agent, oldest first. */
  open(workspaceId: string, agentId: string, type: Asking['type']): Question[];
  /** Sends what waits for this agent, each question once. */
  deliver(workspaceId: string, agentId: string): void;
  /** A connection is gone: what it may not have received waits for the next. */
  lost(link: Link): void;
  drop(question: Question): void;
  /** How it stands in one workspace. */
  counts(workspaceId: string): Counts;
  /** How many there are, without what is asked aside. */
  readonly size: number;
}

/** How many ids of timed-out questions are remembered, to tell a late answer from a stray one. */
const REMEMBERED = 10_000;

export function createQuestions(deps: { roster: Roster; timeoutMs: number }): Questions {
  const { roster } = deps;
  const byId = new Map<string, Question>();
  const byAgent = new Map<string, Set<Question>>();
  const byAsker = new Map<string, Question>();
  const timedOut = new Set<string>();
  const strayByWorkspace = new Map<string, Omit<Counts, 'questions'>>();

  function strayOf(workspaceId: string): Omit<Counts, 'questions'> {
    const known = strayByWorkspace.get(workspaceId) ?? { late_responses: 0, unknown_responses: 0 };
    strayByWorkspace.set(workspaceId, known);
    return known;
  }

  function drop(question: Question): void {
    const { asker, target, requestId, asking } = question;
    clearTimeout(question.timer);
    question.closed = true;
    byId.delete(asking.id);
    byAsker.delete(askerKey(asker, target, requestId));
    const key = agentKey(asker.workspace_id, target);
    const own = byAgent.get(key);
    own?.delete(question);
    if (own?.size === 0) byAgent.delete(key);
  }

  function timeOut(question: Question, timeout_ms: number): void {
    drop(question);
    timedOut.add(question.asking.id);
    if (timedOut.size > REMEMBERED) timedOut.delete(timedOut.values().next().value ?? '');
    const { target: of_agent } = question;
    const message = `${of_agent} did not answer in ${timeout_ms} ms`;
    const isAway = question.ready && linkFor(question) === undefined;
    question.end({ outcome: isAway ? 'gone' : 'timed_out', of_agent, message, timeout_ms });
  }

  /** Where the agent is reached now. */
  function linkFor({ asker: { workspace_id }, target, session }: Question): Link | undefined {
    return session === undefined
      ? roster.current(workspace_id, target)
      : roster.takers(workspace_id, target, undefined, session)[0];
  }

  function deliver(workspaceId: string, agentId: string): void {
    for (const question of byAgent.get(agentKey(workspaceId, agentId)) ?? []) {
      if (!question.ready || question.sentOn !== undefined) continue;
      const link = linkFor(question);
      if (link === undefined) continue;
      question.sentOn = link;
      link.send(question.asking);
      link.confirm(() => {
        if (question.sentOn === link) question.received = true;
      });
    }
  }

  /** By the id that the agent was given, or by the asker's own where that leaves no doubt. */
  function find(agent: Caller, id: string): Question | undefined {
    const question = byId.get(id);
    if (isFor(question, agent)) return question;
    const own = byAgent.get(agentKey(agent.workspace_id, agent.agent_id)) ?? [];
    const [first, ...others] = [...own].filter(
      ({ requestId, sentOn }) => requestId === id && sentOn !== undefined,
    );
    return others.length === 0 ? first : undefined;
  }

  return {
    ask(about, timeoutMs = deps.timeoutMs) {
      const { asker, target, requestId, asking } = about;
      let end: Question['end'] = () => {};
      const outcome = new Promise<AnyOutcome>((resolve) => (end = resolve));
      const question: Question = {
        ...about,
        ready: false,
        closed: false,
        sentOn: undefined,
        received: false,
        timer: setTimeout(() => timeOut(question, timeoutMs), timeoutMs),
        outcome,
        end,
      };
      if (question.aside) question.timer.unref();
      byId.set(asking.id, question);
      byAsker.set(askerKey(asker, target, requestId), question);
      const key = agentKey(asker.workspace_id, target);
      const own = byAgent.get(key);
      if (own === undefined) byAgent.set(key, new Set([question]));
      else own.add(question);
      return question;
    },
    has: (agent, id) => find(agent, id) !== undefined,
    take(agent, id, type) {
      const question = find(agent, id);
      if (question === undefined || (type !== undefined && question.asking.type !== type)) {
        const stray = strayOf(agent.workspace_id);
        if (timedOut.has(id)) stray.late_responses++;
        else stray.unknown_responses++;
        return undefined;
      }
      drop(question);
      return question;
    },
    asked: (asker, target, requestId) => byAsker.get(askerKey(asker, target, requestId)),
    open: (workspaceId, agentId, type) =>
      [...(byAgent.get(agentKey(workspaceId, agentId)) ?? [])].filter(({ asking }) => asking.type === type),
    deliver,
    lost(link) {
      const { workspace_id, agent_id } = link.caller;
      for (const question of byAgent.get(agentKey(workspace_id, agent_id)) ?? [])
        if (question.sentOn === link && !question.received) question.sentOn = undefined;
      deliver(workspace_id, agent_id);
    },
    drop,
    counts(workspaceId) {
      const own = [...byId.values()].filter(
        ({ asker, aside }) => asker.workspace_id === workspaceId && !aside,
      );
      return { questions: own.length, ...strayOf(workspaceId) };
    },
    get size() {
      let all = 0;
      for (const { aside } of byId.values()) if (!aside) all++;
      return all;
    },
  };
}

function isFor(question: Question | undefined, agent: Caller): question is Question {
  return (
    question !== undefined &&
    question.target === agent.agent_id &&
    question.asker.workspace_id === agent.workspace_id
  );
}

function agentKey(workspaceId: string, agentId: string): string {
  return `${workspaceId} ${agentId}`;
}

function askerKey({ workspace_id, agent_id, session_id }: Caller, target: string, requestId: string): string {
  return `${workspace_id} ${agent_id} ${session_id} ${target} ${requestId}`;
}
