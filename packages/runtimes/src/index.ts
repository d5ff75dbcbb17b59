export type * from './codex/backend.ts';
export { DEFAULT_LIMITS } from './codex/limits.ts';
export { openCodex } from './codex/open-codex.ts';
export type { ChildExit } from './process/child.ts';
export { RUNTIME_ERROR_CODES, RuntimeError, type RuntimeErrorCode } from './runtime-error.ts';
