import { inTime, type OperationName } from '@parley/protocol';

import { createPatience } from './patience.ts';
import { type HttpAnswer, asClientError, type CallOptions, type Transport } from './transport.ts';

/** What a call must know of its operation. */
interface CallFacts {
  /** It takes an idempotency key: without one of its own it gets one, so that a repeat after a lost answer is seen as one. */
  keyed: boolean;
  /** How long the hub itself may wait before it answers. */
  waitMs: number;
}

/** One call of an operation, repeated until it is answered or patience ends. */
export type Caller = (
  name: OperationName,
  input: object,
  facts: CallFacts,
  options?: CallOptions,
) => Promise<unknown>;

const TIMEOUT_MS = 30_000;
export const PATIENCE_MS = 60_000;

/**
 * A call that gets no answer is repeated with the same idempotency key until the hub answers or patience ends, so that a
 * write happens once or its error says that the outcome is unknown.
 */
export function createCaller(
  transport: Transport<HttpAnswer>,
  { timeoutMs = TIMEOUT_MS, patienceMs = PATIENCE_MS }: { timeoutMs?: number; patienceMs?: number },
): Caller {
  return async (name, input, { keyed, waitMs }, { signal } = {}) => {
    const body = JSON.stringify(keyed && !('idempotency_key' in input) ? withKey(input) : input);
    const patience = createPatience(patienceMs);
    const never = new AbortController().signal;
    for (;;) {
      try {
        return await inTime(timeoutMs + waitMs, signal ?? never, async (limit) => {
          const headers = { 'content-type': 'application/json' };
          return readAnswer(await transport(`/v1/${name}`, { method: 'POST', headers, body, signal: limit }));
        });
      } catch (error) {
        signal?.throwIfAborted();
        await patience.wait(error, signal);
      }
    }
  };
}

async function readAnswer(response: HttpAnswer): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw asClientError(error, response.url);
  }
}

function withKey(input: object): object {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { ...input, idempotency_key: `auto_${digits}` };
}
