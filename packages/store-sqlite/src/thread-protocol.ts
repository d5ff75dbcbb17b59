import type { ErrorCode, ErrorDetails } from '@parley/protocol';

/** How a store thread starts. */
export interface ThreadStart {
  role: 'writer' | 'reader';
  path: string;
  /** How many commands may share one commit. */
  maxBatch: number;
}

/** The first word of a store thread: it has opened its database, or why it could not. */
export type Opening =
  | { ready: true; /** Damage found on the way that leaves the rest usable. */ warnings: string[] }
  | { ready: false; message: string; /** The message was written for people. */ ours: boolean };

/** The answer to one call of a batch; batches cross as one JSON text each way. */
export interface Reply {
  ok?: unknown;
  error?: { code: ErrorCode; message: string; details?: ErrorDetails };
  /** What went wrong below the rules, for the operator's log. */
  fault?: string;
  severity?: Severity;
}

/** What a fault means for writing: none is taken until it has passed, or until a restart. */
export type Severity = 'passing' | 'fatal';

/** What a store thread says unasked: a fault it met by itself, or that one has passed. Batches are arrays, this is an object. */
export type Notice = { fault: string; severity?: Severity } | { recovered: true };

/** What the writer is told beside commands: to forget the idempotency keys from before a moment. Commands come in arrays. */
export interface Forgetting {
  forget_before: number;
}
