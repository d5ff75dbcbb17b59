import type { ErrorCode, ErrorDetails } from '@parley/protocol';

import type { OpeningNews } from './news.ts';

/** How a store thread starts. */
export interface ThreadStart {
  role: 'writer' | 'reader' | 'searcher';
  path: string;
  idempotencyWindowMs: number;
  /** How many commands may share one commit. */
  maxBatch: number;
}

/** The first words of a store thread: what it meets on the way, then that it has opened its database, or why it could not. */
export type Opening =
  | { news: OpeningNews }
  | { ready: true }
  | { ready: false; message: string; /** The message was written for people. */ ours: boolean };

/** The answer to one call of a batch; batches cross as one JSON text each way. */
export interface Reply {
  ok?: unknown;
  error?: { code: ErrorCode; message: string; details?: ErrorDetails };
  /** What went wrong below the rules, for the operator's log. */
  fault?: string;
  /** The store takes no more writes. */
  fatal?: boolean;
}

/** What a store thread says unasked: a fault it met by itself. Batches are JSON arrays, this is an object. */
export interface Notice {
  fault: string;
  fatal: boolean;
}

/** Asks the writer, among its commands, to make the index of words anew. */
export const REMAKE_INDEX = 'remake index';
