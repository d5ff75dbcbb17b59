/** A delivery that waits for its turn; what is to be done stands in the store. */
export interface Ticket {
  delivery_id: string;
  workspace_id: string;
}

/**
 * Brings tickets to the one who works on them, one workspace after the other, so many at once of each. It may forget
 * and it may bring one twice: the store holds the truth, and what waits there is put in anew at every start.
 */
export interface Carrier {
  /** Brings a ticket once so many milliseconds have passed. */
  put(ticket: Ticket, delayMs: number): void;
  /** Brings a ticket back to the head of its line, and lets the line of its workspace rest. */
  hold(ticket: Ticket, restMs: number): void;
  /** How many tickets of a workspace it carries. */
  waiting(workspaceId: string): number;
  /** `work` never throws; a ticket counts as worked on until it resolves. */
  start(work: (ticket: Ticket) => Promise<void>): void;
  /** Brings no more, and resolves when nothing is worked on. */
  close(): Promise<void>;
}
