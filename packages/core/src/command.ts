import type { Caller, Trace } from '@parley/protocol';

import type { Fence } from './leases/lease-record.ts';
import type { Nothing } from './results.ts';

/** A caller's promise that the same key means the same thing; kept with the effect in one transaction. */
export interface Idempotency {
  scope: string;
  key: string;
  /** Records made before this moment have left the window and no longer bind. */
  fresh_after: number;
  /** What the key also binds where its scope is wider than one place. */
  about?: string;
  /** Only asks whether the key binds already: what comes of the command is not kept under it. */
  peek?: true;
}

/** Where the compiler reads what the rule of a command answers; nothing ever stands there. */
export declare const ANSWER: unique symbol;

/** A command as every rule has it. */
export interface Base<T extends string, I, R = Nothing> {
  type: T;
  readonly [ANSWER]?: R;
  caller: Caller;
  /** Wall-clock milliseconds: at the gate, and once the store decides the time of that, if it is later. */
  now: number;
  /** Nothing comes of it after this moment, however long it waited for its turn. */
  deadline?: number;
  /** Randomness for ids, drawn outside the rules. */
  salt: number;
  idempotency?: Idempotency;
  /** By what right the owner of a job writes; others write without it. */
  fence?: Fence;
  /** The trace in which it was asked for; no part of what a key binds, since a repeat is a new span. */
  trace?: Trace;
  input: I;
}

/** One that is about one thread. */
export interface InThread<T extends string, I, R = Nothing> extends Base<T, I, R> {
  thread_id: string;
}

/** What is said. */
export interface Content {
  body: string;
  metadata?: Record<string, unknown> | undefined;
  idempotency_key?: string | undefined;
}

/** What may go with a control or a presence as with a message. */
export interface Aside {
  to?: string | undefined;
  in_reply_to?: string | undefined;
  tags?: string[] | undefined;
}
