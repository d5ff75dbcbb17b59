import { ApiError, call } from './api.ts';

/** How long to wait before a try that got no answer is made again. */
const AGAIN_MS = 3_000;

/** How far each thread is to be acknowledged, until the hub has it. */
const wanted = new Map<string, number>();
const sending = new Set<string>();

/** Tells the hub how far a thread was read, until it has heard it: a lost connection must not leave it behind. */
export function acknowledge(threadId: string, seq: number): void {
  wanted.set(threadId, Math.max(seq, wanted.get(threadId) ?? -1));
  if (!sending.has(threadId)) void send(threadId);
}

async function send(threadId: string): Promise<void> {
  sending.add(threadId);
  for (let seq = wanted.get(threadId); seq !== undefined; seq = wanted.get(threadId)) {
    try {
      await call('ack_read', { thread_id: threadId, last_read_seq: seq });
    } catch (error) {
      // No answer means nothing; a refusal stands, but for one that asks for patience.
      const code = error instanceof ApiError ? error.code : undefined;
      if (code === undefined || code === 'RATE_LIMITED' || code === 'UNAVAILABLE') {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        continue;
      }
    }
    if (wanted.get(threadId) === seq) wanted.delete(threadId);
  }
  sending.delete(threadId);
}
