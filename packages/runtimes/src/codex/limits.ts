import type { CodexLimits } from './backend.ts';

const MIB = 1_048_576;

/** Generous to a slow child, short to a stuck one. */
export const DEFAULT_LIMITS: CodexLimits = {
  startMs: 30_000,
  requestMs: 60_000,
  interruptMs: 5_000,
  lostMs: 5_000,
  eofMs: 1_500,
  termMs: 1_500,
  maxLineBytes: 32 * MIB,
  maxBacklogBytes: 64 * MIB,
};
