/** The one port through which an agent's program is run without a terminal, whichever protocol it speaks. */
import type { AskVerdict, InputOf, TurnUsage } from '@parley/protocol';

import type { ChildExit } from '../process/child-exit.ts';

/** What the owner of a session gives. */
export interface ManagedOptions {
  /** A name in PATH, or the program itself. */
  bin: string;
  /** Further arguments of the program. */
  args: readonly string[];
  /** The child's whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** The runtime's own id of the session to go on with; a new one when left out. */
  resume?: string;
  /** An MCP server on stdio that the session has beside its own, such as the hub's tools. */
  server?: ManagedServer;
  clientInfo: { name: string; version: string };
  on: ManagedListener;
}

export interface ManagedServer {
  name: string;
  command: string;
  args: readonly string[];
  /** Variables of its own; no secrets are among them. */
  env: Readonly<Record<string, string>>;
}

/** What the owner of a session hears. No callback is waited for. */
export interface ManagedListener {
  /** What a person should know of the turn: a command that ran, files that changed, a warning. */
  report(report: ManagedReport): void;
  /** The program waits until it is answered or the ask is withdrawn. */
  ask(ask: ManagedAsk): void;
  /** Once for every ask: the owner answered, the program waits no longer, or it is gone. */
  askClosed(id: string, how: 'answered' | 'withdrawn' | 'child_exited'): void;
  /** Once, also after `close`. */
  exit(exit: ChildExit): void;
}

export type ManagedReport = Pick<InputOf<'report_event'>, 'event_type' | 'data'>;

/** A question of the program, in the words of the hub's asks. */
export interface ManagedAsk {
  /** Unique within the session. */
  id: string;
  /** The exact command, its folder and the program's own options; undefined when it cannot be shown whole. */
  content: AskToRaise | undefined;
  /** Puts a person's verdict into the program's words; undefined refuses. False when it was settled before. */
  answer(verdict: AskVerdict | undefined): boolean;
}

export type AskToRaise = Pick<
  InputOf<'raise_ask'>,
  'kind' | 'prompt' | 'command' | 'cwd' | 'options' | 'risk' | 'rule' | 'schema' | 'metadata'
>;

/** What a session is made of. */
export interface ManagedFacts {
  /** The runtime as its heartbeats name it, such as `codex` or `claude_code`. */
  runtime: string;
  version: string | undefined;
  pid: number;
  /** The runtime's own id, by which the session is resumed. */
  sessionId: string;
  can: { steer: boolean };
}

/** One session in one child process; when that is gone, open another with `resume`. */
export interface ManagedSession {
  readonly facts: ManagedFacts;
  /** Begins a turn; a second one while a turn runs is refused with BUSY. */
  prompt(text: string): ManagedTurn;
  /** Adds to the running turn; settles when the runtime itself shows that it has it. Refused where it cannot. */
  steer(text: string): Promise<ManagedProof>;
  /** Ends the running turn; false when none runs. */
  cancel(): Promise<boolean>;
  /** Ends the program and all it started. */
  close(): Promise<void>;
}

/** What shows that a prompt arrived: the runtime says that it works on it, or its own record holds it. */
export type ManagedProof = 'runtime_status' | 'runtime_record';

export interface ManagedTurn {
  /** The runtime itself shows that it works on this prompt; throws where it never did. */
  started: Promise<ManagedProof>;
  /** Never throws. */
  ended: Promise<ManagedTurnEnd>;
}

export interface ManagedTurnEnd {
  status: 'completed' | 'interrupted' | 'failed';
  /** What the agent said last. */
  text: string;
  error?: string;
  durationMs: number;
  usage?: Record<string, unknown>;
  /** What the whole turn used, in the hub’s words; only what the runtime says of it. */
  spent?: TurnUsage;
}

/** Starts a program, or resumes its session; throws where it does not come up. */
export type OpenManaged = (options: ManagedOptions) => Promise<ManagedSession>;
