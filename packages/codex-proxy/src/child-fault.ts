import { type ChildExit, RuntimeError, type RuntimeErrorCode } from '@parley/runtimes';

import { childError, proxyError, RPC, rpcError, RpcError } from './errors.ts';

const DEAD_CODES: ReadonlySet<RuntimeErrorCode> = new Set([
  'SPAWN_FAILED',
  'BACKEND_MISSING',
  'START_FAILED',
  'CHILD_EXITED',
  'CLOSED',
]);

/** What the driver threw, as the client hears it: the child's own error as it was, that there is no child, or ours; any other error as it is. */
export function childFault(error: unknown, facts: Record<string, unknown> = {}): unknown {
  if (!(error instanceof RuntimeError)) return error;
  if (DEAD_CODES.has(error.code)) return deadChild(error.message, error.facts.exit, facts);
  if (error.code === 'TIMED_OUT')
    return proxyError('REQUEST_TIMEOUT', `The Codex process gave ${error.message}`, facts);
  if (error.code === 'ABORTED') return rpcError(RPC.cancelled, 'The request was cancelled');
  // What the driver refuses by itself the child has never said.
  if (error.facts.childError === undefined)
    return new RpcError(RPC.internal, error.message, {
      error_source: 'proxy',
      error_name: error.code,
      ...facts,
    });
  return childError(error.message, error.facts.childError, facts);
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

/** The end of the child in words. */
export function howEnded(exit: ChildExit | undefined): string {
  if (exit === undefined) return 'it has ended';
  return exit.signal === null ? `it ended with code ${exit.code}` : `it was ended by ${exit.signal}`;
}
