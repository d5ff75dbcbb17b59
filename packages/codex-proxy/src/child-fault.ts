import { type ChildExit, RuntimeError, type RuntimeErrorCode } from '@parley/runtimes';

import { childError, proxyError, RPC, RpcError } from './errors.ts';

const DEAD_CODES: ReadonlySet<RuntimeErrorCode> = new Set([
  'SPAWN_FAILED',
  'BACKEND_MISSING',
  'START_FAILED',
  'CHILD_EXITED',
  'CLOSED',
]);

/** What the driver threw, as the client hears it: the child's own error as it was, or that there is no child. */
export function childFault(error: unknown, facts: Record<string, unknown> = {}): RpcError {
  if (error instanceof RpcError) return error;
  if (!(error instanceof RuntimeError))
    return childError((error as Error).message, { message: (error as Error).message });
  if (DEAD_CODES.has(error.code)) return deadChild(error.message, error.facts.exit, facts);
  if (error.code === 'TIMED_OUT')
    return proxyError('REQUEST_TIMEOUT', `The Codex process gave ${error.message}`, facts);
  if (error.code === 'ABORTED')
    return new RpcError(RPC.cancelled, 'The request was cancelled', {
      error_source: 'proxy',
      error_name: 'REQUEST_CANCELLED',
    });
  return childError(error.message, error.facts.childError ?? { name: error.code, message: error.message });
}

/** There is no Codex process, with what is known of its end. */
export function deadChild(
  message: string,
  exit: ChildExit | undefined,
  facts: Record<string, unknown>,
): RpcError {
  return proxyError('CHILD_PROCESS_DEAD', `The Codex process is not running: ${message}`, {
    ...facts,
    exit_code: exit?.code ?? null,
    signal: exit?.signal ?? null,
  });
}
