import type { Dispatcher, DueDelivery } from './dispatcher.ts';
import type { DueSignal, DueStream } from './due-stream.ts';

/** What is in hand is said to be so this often. */
const BEAT_MS = 2_000;

/**
 * A dispatcher whose word goes over a stream that nodes share: what one accepts, another works on. The lines, and whose
 * turn it is, are those of the dispatcher beneath it. Where the stream does not take a word, `orElse` hears of it.
 */
export function createStreamDispatcher(
  stream: DueStream,
  lines: Dispatcher,
  orElse: (due: DueDelivery) => void,
): Dispatcher {
  const heldById = new Map<string, DueSignal | undefined>();
  const working = new Set<string>();
  /** How long after this attempt the next one comes, as its worker says. */
  const waitById = new Map<string, number>();
  const kept = new Set<string>();
  const beat = setInterval(() => {
    for (const signal of heldById.values()) signal?.busy();
  }, BEAT_MS).unref();

  function take(signal: DueSignal): void {
    const id = idOf(signal.due);
    // It is in hand already; should this process end, the next one finds it in the store.
    if (heldById.has(id)) return signal.done();
    heldById.set(id, signal);
    lines.put(signal.due, 0);
  }

  const publish = (due: DueDelivery): void => void stream.publish(due).catch(() => orElse(due));

  function resume(due: DueDelivery, delayMs: number): void {
    const id = idOf(due);
    if (heldById.has(id)) return;
    heldById.set(id, undefined);
    lines.put(due, delayMs);
  }

  async function carry(due: DueDelivery, work: (due: DueDelivery) => Promise<void>): Promise<void> {
    const id = idOf(due);
    working.add(id);
    await work(due);
    working.delete(id);
    // It stands at the head of its line again.
    if (kept.delete(id)) return;
    const signal = heldById.get(id);
    const waitMs = waitById.get(id);
    heldById.delete(id);
    waitById.delete(id);
    if (waitMs === undefined) signal?.done();
    else if (signal !== undefined) signal.again(waitMs);
    else if (waitMs > 0) resume(due, waitMs);
    else publish(due);
  }

  return {
    put(due, delayMs) {
      const id = idOf(due);
      if (working.has(id)) waitById.set(id, delayMs);
      else if (delayMs > 0) resume(due, delayMs);
      else publish(due);
    },
    resume,
    hold(due, restMs) {
      kept.add(idOf(due));
      lines.hold(due, restMs);
    },
    waiting: (workspaceId) => lines.waiting(workspaceId),
    start(work) {
      lines.start((due) => carry(due, work));
      stream.start(take);
    },
    async close() {
      clearInterval(beat);
      stream.stop();
      await lines.close();
      await stream.close();
    },
  };
}

function idOf({ workspace_id, delivery_id }: DueDelivery): string {
  return `${workspace_id} ${delivery_id}`;
}
