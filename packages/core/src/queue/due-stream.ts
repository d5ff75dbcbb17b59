import type { DueDelivery } from './dispatcher.ts';

/** Word that a delivery is due, as it was brought: it comes again unless it is done. */
export interface DueSignal {
  due: DueDelivery;
  /** It need not come again. */
  done(): void;
  /** Brings it again, here or elsewhere, once so many milliseconds have passed. */
  again(afterMs: number): void;
  /** It is still in hand: it is not to come again yet. */
  busy(): void;
}

/**
 * Carries the word that deliveries are due to whoever works on them, so that it outlives the node that said it. It may
 * bring one twice and may lose one: what is to be done, and whether it was, stands in the store.
 */
export interface DueStream {
  /** Resolves when it is carried; rejects when it is not, or nobody knows. */
  publish(due: DueDelivery): Promise<void>;
  /** Brings what is due from now on. */
  start(take: (signal: DueSignal) => void): void;
  /** Brings no more, and gives back all that is in hand. */
  stop(): void;
  close(): Promise<void>;
}
