import type { Caller, OperationName, OutputOf, ParleyError, Trace } from '@parley/protocol';

import type { Command, Order, ResultOf } from './commands.ts';
import type { Ignored } from './results.ts';

/** Operations whose calls may come in an order of their sender, by the rule of the same name. */
type InOrder = {
  [N in Command['type'] & OperationName]: Ignored extends ResultOf<N> ? N : never;
}[Command['type'] & OperationName];

/** What an operation answers: what its contract says, or that it came too late in its sender's order. */
export type AnswerOf<N extends OperationName> = OutputOf<N> | (N extends InOrder ? Ignored : never);

/** What one call brings beside its input. */
export interface CallContext {
  request_id: string;
  signal: AbortSignal;
  /** The trace that the caller is in, if it says so. */
  trace?: Trace | undefined;
  /** The id that a client gave the event it posts: one event of this sender in the whole workspace. */
  event_id?: string;
  /** The sender's own number for this call, where its wire has one. */
  order?: Order;
  /** The key under which the answer of a read binds as that of a write does, where its wire has one. */
  read_key?: string;
  /** Nothing comes of the call after this moment, where its wire says so. */
  deadline?: number;
  /** The bytes that come with the call, where they are too many to stand in its input. */
  body?: AsyncIterable<Uint8Array>;
  /** The hub's own doing in the name of the caller: it is counted against nobody. */
  unmetered?: true;
  /** Tells a patient client that a long call is still alive. */
  progress?: (message: string) => void;
}

/** What is known of a call once it has ended. */
export interface CallRecord {
  request_id: string;
  operation: OperationName;
  caller: Caller;
  ms: number;
  trace: Trace | undefined;
  /** It was accepted, or refused, to be carried out later; that will be a call of its own. */
  later: boolean;
  /** Undefined when the call went well. */
  error: ParleyError | undefined;
  /** The error behind an INTERNAL one. */
  cause: unknown;
}

/** The gate: every face hands its decoded calls to it. */
export interface Hub {
  call<N extends OperationName>(
    caller: Caller,
    name: N,
    input: unknown,
    context: CallContext,
  ): Promise<AnswerOf<N>>;
  /**
   * Lets in a call that is to be carried out later, and has `accept` put it aside: what could not be carried out at once
   * cannot be later either. What it costs is spent when it is carried out.
   */
  acceptForLater<A extends object>(
    caller: Caller,
    name: OperationName,
    input: unknown,
    context: CallContext,
    accept: () => Promise<A>,
  ): Promise<A & { warnings?: string[] }>;
}
