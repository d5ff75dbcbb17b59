import type { ApprovalDecision, ApprovalRequest, CodexEvent, TurnResult } from '@parley/runtimes';

import type { SessionRecord } from './registry/session-record.ts';

/** A session as someone beside the client may see and steer it. */
export interface OpenSession {
  readonly agentId: string;
  readonly identity: string;
  record(): SessionRecord;
  /** Runs in its place in the queue, like a turn of the client. */
  turn(prompt: string, signal: AbortSignal): Promise<{ how: string }>;
  /** Stops the running turn, whoever asked for it; false when none runs. */
  interrupt(): boolean;
}

export interface StartedTurn {
  source: 'client' | 'mail' | 'summary';
  prompt: string;
}

export interface EndedTurn {
  end: TurnResult | Error;
  /** Why it was stopped, if it was. */
  stop: 'cancelled' | 'timed_out' | 'closed' | undefined;
}

/** The same question asked in another place. */
export interface OtherAnswer {
  /** True while somebody may see it there. */
  isThere(): boolean;
  /** Undefined when no answer will come from there; never rejects. */
  answer: Promise<ApprovalDecision | undefined>;
}

/** Hears what happens in the sessions of this proxy and may answer what they ask; no turn ever waits for it. */
export interface SessionObserver {
  opened(session: OpenSession): void;
  turnStarted(agentId: string, turn: StartedTurn): void;
  turnEnded(agentId: string, turn: EndedTurn): void;
  event(agentId: string, event: CodexEvent): void;
  /** Something of the session that a person should know of, and that is no turn. */
  warned(agentId: string, warning: string, facts: Record<string, unknown>): void;
  /** The signal's abort tells that the question is settled, and by its reason how. */
  asked(agentId: string, request: ApprovalRequest, signal: AbortSignal): OtherAnswer;
  childDied(): void;
  closed(agentId: string): void;
}
