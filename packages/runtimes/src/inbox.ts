/** What is given to a session that is open, by the channel it has for that. */
export interface InboxMessage {
  prompt: string;
  /** Stands in the prompt; by it the message is found in the session's own record. */
  mark: string;
  /** It may have come before: where the session has it, it is not given again. */
  again: boolean;
  /** Goes into a turn that is running. */
  force: boolean;
  proofMs: number;
}

/** What became of it: only what the session itself shows counts as delivered. */
export type InboxAnswer =
  | { delivered: true; proof: 'runtime_record' | 'runtime_status' }
  | { delivered: false; reason: string; deferred?: true };

/** Whether a session would take something now. */
export type InboxState = { state: 'idle' } | { state: 'busy' | 'closed'; reason: string };

/** The way into one session that somebody has open, around whatever stands half typed there. */
export interface Inbox {
  state(): Promise<InboxState>;
  send(message: InboxMessage): Promise<InboxAnswer>;
}
