import type { ChildExit } from './process/child-exit.ts';

/** Every way in which a runtime refuses a call before any turn began. */
export const RUNTIME_ERROR_CODES = [
  'SPAWN_FAILED',
  'BACKEND_MISSING',
  'START_FAILED',
  'CHILD_EXITED',
  'CLOSED',
  'BUSY',
  'THREAD_NOT_FOUND',
  'NOT_RESUMABLE',
  'THREAD_LOST',
  'UNSUPPORTED',
  'REFUSED',
  'TIMED_OUT',
  'ABORTED',
  'OVERLOADED',
  'ANSWER_TOO_LARGE',
] as const;

export type RuntimeErrorCode = (typeof RUNTIME_ERROR_CODES)[number];

/** What is known beside the sentence: how the child ended, or its own words. */
export interface RuntimeErrorFacts {
  exit?: ChildExit;
  childError?: unknown;
}

/** The one error that drivers throw; how a turn that began came to its end is a result, never an error. */
export class RuntimeError extends Error {
  readonly code: RuntimeErrorCode;
  readonly facts: RuntimeErrorFacts;

  constructor(code: RuntimeErrorCode, message: string, facts: RuntimeErrorFacts = {}) {
    super(message);
    this.name = 'RuntimeError';
    this.code = code;
    this.facts = facts;
  }
}
