import type { Command } from '@parley/core';
import type { ErrorCode, ErrorDetails } from '@parley/protocol';

import type { OpeningNews } from './news.ts';

/** How a store thread starts. */
export interface ThreadStart {
  role: 'writer' | 'reader' | 'searcher';
  path: string;
  /** How many commands may share one commit. */
  maxBatch: number;
  /** How long the commands of one commit may take before those of others have their turn. */
  batchMs: number;
}

/** The first words of a store thread: what it meets on the way, then that it has opened its database, or why it could not. */
export type Opening =
  | { news: OpeningNews }
  | { ready: true }
  | { ready: false; message: string; /** The message was written for people. */ ours: boolean };

/** An answer and the number of its call, counted from the first that ever crossed: one workspace may overtake another. */
export type Numbered = [call: number, reply: Reply];

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

/** Asks the writer, among its commands, to make the index of words anew. */
export const REMAKE_INDEX = 'remake index';

/** Asks the writer, among its commands, to bring the index of words up in the same commit, as far as a slice goes. */
export const ADVANCE_INDEX = 'advance index';

/** What the writer is asked for. */
export type WriterCall = Command | typeof REMAKE_INDEX | typeof ADVANCE_INDEX;
