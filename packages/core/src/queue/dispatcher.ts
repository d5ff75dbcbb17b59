/** A delivery that waits for its turn; what is to be done stands in the store. */
export interface DueDelivery {
  delivery_id: string;
  workspace_id: string;
}

/**
 * Brings due deliveries to the one who works on them, one workspace after the other, so many at once of each. It may forget
 * and it may bring one twice: the store holds the truth, and what waits there is put in anew at every start.
 */
export interface Dispatcher {
  /** Brings a delivery once so many milliseconds have passed. */
  put(due: DueDelivery, delayMs: number): void;
  /** The same for what this process has found waiting in the store: nobody else need hear of it. */
  resume(due: DueDelivery, delayMs: number): void;
  /** Brings a delivery back to the head of its line, and lets the line of its workspace rest. */
  hold(due: DueDelivery, restMs: number): void;
  /** How many deliveries of a workspace it carries. */
  waiting(workspaceId: string): number;
  /** `work` never throws; a delivery counts as worked on until it resolves. */
  start(work: (due: DueDelivery) => Promise<void>): void;
  /** Brings no more, and resolves when nothing is worked on. */
  close(): Promise<void>;
}
