import type { DueDelivery } from './dispatcher.ts';
import type { DueSignal, DueStream } from './due-stream.ts';

const ACK_WAIT_MS = 6_000;

/** A stream of due deliveries in memory, for tests: what is not done comes again, and it can be shut. */
export function createSampleDueStream() {
  const waiting = new Map<number, DueDelivery>();
  let take: ((signal: DueSignal) => void) | undefined;
  let count = 0;
  let brought = 0;
  const state = { isShut: false };

  function bring(id: number): void {
    const due = waiting.get(id);
    if (due === undefined || take === undefined) return;
    brought++;
    let timer = setTimeout(() => bring(id), ACK_WAIT_MS);
    take({
      due,
      done: () => {
        clearTimeout(timer);
        waiting.delete(id);
      },
      again(afterMs) {
        clearTimeout(timer);
        timer = setTimeout(() => bring(id), afterMs);
      },
      busy: () => void timer.refresh(),
    });
  }

  const stream: DueStream = {
    async publish(due) {
      if (state.isShut) throw new Error('shut');
      waiting.set(++count, due);
      bring(count);
    },
    start(listener) {
      take = listener;
      for (const id of waiting.keys()) bring(id);
    },
    stop: () => void (take = undefined),
    close: async () => {},
  };
  return {
    stream,
    state,
    get waiting() {
      return waiting.size;
    },
    get brought() {
      return brought;
    },
  };
}
