/** What is said to one who sends a number lower than it did before: nothing was done. */
export type Ignored = { ignored: true; last_seq: number };

/** True for an answer that says that nothing was done. */
export function isIgnored(answer: object): answer is Ignored {
  return 'ignored' in answer && answer.ignored === true;
}

/** Of what was done nobody needs to know more than that it is durable. */
export type Nothing = Record<string, never>;

/** What was written, by its place in its thread. */
export type Placed = { message_id: string; seq: number };

/** What the sender of an envelope for later is told of it. */
export type AcceptedDelivery = {
  delivery_id: string;
  status: 'waiting';
  accepted_at: string;
  eta: string;
  expires_at: string;
};
