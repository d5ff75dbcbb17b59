import type { CallContext, Hub, Log } from '@parley/core';
import type { Caller, OperationName } from '@parley/protocol';

/** The hub as one caller sees it: the gate itself on HTTP, a hub in another process on stdio. */
export interface CallerHub {
  call(name: OperationName, input: unknown, context: CallContext): Promise<Record<string, unknown>>;
  /** A thread's newest position each time it has grown beyond `after`; throws once the caller may not read it. */
  growth(threadId: string, after: number, signal: AbortSignal): AsyncGenerator<number>;
}

/** Binds the gate and the log to verified claims. */
export function hubOf(hub: Hub, log: Log, caller: Caller): CallerHub {
  return {
    call: (name, input, context) => hub.call(caller, name, input, context),
    async *growth(threadId, after, signal) {
      for await (const entries of log.follow(caller, threadId, after, signal)) {
        yield entries.at(-1)?.seq ?? after;
      }
    },
  };
}
