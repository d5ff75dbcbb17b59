/** The W3C trace that a call is part of, under the names of its headers, and what its sender calls it. */
export interface Trace {
  traceparent: string;
  tracestate?: string;
  /** The sender's own name for the call, and for all that belongs to it. */
  request_id?: string;
  correlation_id?: string;
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** A list of key=value in printable ASCII, as long as everybody must pass on. */
const TRACESTATE = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -~]{1,500}$/;
const TRACESTATE_CHARS = 512;

/** True for a traceparent of version 00. */
export function isTraceparent(said: unknown): said is string {
  return typeof said === 'string' && TRACEPARENT.test(said);
}

/** The trace that a caller names; undefined when it names none, or what is none. */
export function readTrace(traceparent: unknown, tracestate?: unknown): Trace | undefined {
  if (!isTraceparent(traceparent)) return undefined;
  if (typeof tracestate !== 'string' || tracestate.length > TRACESTATE_CHARS || !TRACESTATE.test(tracestate))
    return { traceparent };
  return { traceparent, tracestate };
}
