import type { AnswerOf, CallContext, Hub, Log, Offers } from '@parley/core';
import type { Caller, OperationName } from '@parley/protocol';

/** The hub as one caller sees it: the gate itself on HTTP, a hub in another process on stdio. */
export interface CallerHub {
  call<N extends OperationName>(name: N, input: unknown, context: CallContext): Promise<AnswerOf<N>>;
  /** A thread's newest position each time it has grown beyond `after`; throws once the caller may not read it. */
  growth(threadId: string, after: number, signal: AbortSignal): AsyncGenerator<number>;
}

/** Binds the gate and the log to verified claims. */
export function hubOf(
  { hub, log, offers }: { hub: Hub; log: Log; offers: Offers },
  caller: Caller,
): CallerHub {
  return {
    call: (name, input, context) => hub.call(caller, name, input, context),
    async *growth(threadId, after, signal) {
      for await (const entries of log.follow(caller, threadId, after, signal)) {
        const [first] = entries;
        if (first === undefined) continue;
        const last = first.seq + entries.length - 1;
        yield last;
        // Asked for the next one, the face has told of this one.
        offers.note(caller, threadId, last, 'mcp', first.seq);
      }
    },
  };
}
