import type { Caller, ErrorCode, ErrorDetails } from '@parley/protocol';

/** What only its two ends can read. */
export interface Sealed {
  sealed: string;
}

/** What an agent is to do. */
export interface CommandBody {
  command: string;
  parameters?: Record<string, unknown> | undefined;
  correlation_id?: string | undefined;
}

/** A command to an agent, as plain data: the node to which the agent is connected can be handed it as it stands. */
export interface CommandRequest {
  /** Who asks, as it was verified. */
  caller: Caller;
  /** The asker's own name for it: sent again while it is open, it is not done again. */
  command_id: string;
  of_agent: string;
  /** One session of the agent; needed where several take the command. */
  of_session?: string | undefined;
  body: CommandBody | Sealed;
  /** How long the answer may take, counted where the agent is: the clocks of nodes differ. */
  timeout_ms?: number | undefined;
  /**
   * Part of something that is on record already, such as the next look at a screen: it is not put on record again, and
   * takes no place among the commands. Only the hub's own parts may ask so.
   */
  aside?: true | undefined;
}

/** What an agent says that it has done. */
export interface CommandResponse {
  success: boolean;
  result?: unknown;
  error?: { code: string; message: string; details?: unknown } | undefined;
  execution_ms: number;
}

/** Trouble in the words of whoever tells of it. */
export interface Trouble {
  code: string;
  message: string;
  details?: unknown;
  recoverable: boolean;
  /** What that comes to in the hub's words. */
  means: ErrorCode;
}

/** The agent has answered with an error. */
export interface Failed {
  outcome: 'failed';
  by: string;
  error: Trouble | Sealed;
}

/** Why there is no answer. */
export type Unanswered =
  | { outcome: 'refused'; code: ErrorCode; message: string; details: ErrorDetails }
  /** Nobody of that name is connected here; `known` where somebody of that name ever was. */
  | { outcome: 'no_such_session'; known: boolean; message: string; last_seen?: string }
  | { outcome: 'timed_out'; of_agent: string; message: string; timeout_ms: number }
  /** Its connection was lost in the midst, and it was not back in time: it may have done it. */
  | { outcome: 'gone'; of_agent: string; message: string; timeout_ms: number };

/** What becomes of something that is asked of an agent. */
export type Outcome<A> = (({ outcome: 'answered'; by: string } & A) | Failed | Unanswered) & {
  /** The same was open under this id already: whoever asked first has the answer too. */
  repeated?: true;
};

export type CommandOutcome = Outcome<{ response: CommandResponse | Sealed }>;

/** The way of a command to an agent and back. It never throws for what may happen to a command. */
export interface CommandPort {
  command(request: CommandRequest): Promise<CommandOutcome>;
}

/** True for what only its two ends can read. */
export function isSealed(body: object): body is Sealed {
  return 'sealed' in body;
}
