import type { Offer } from '../records.ts';

/** The key of an offer in the records. */
export function offerKey({
  thread_id,
  agent_id,
  how,
}: Pick<Offer, 'thread_id' | 'agent_id' | 'how'>): string {
  return `${thread_id} ${agent_id} ${how}`;
}

/** Two runs of one way as one where they meet; else the later in the thread: nothing is claimed that was not handed out. */
export function joined(stored: Offer | undefined, offer: Offer): Offer {
  if (stored === undefined) return offer;
  const next = { ...offer };
  return extend(next, stored) ? next : stored;
}

/** Lets a new run take up the known one; false where it brings nothing. */
export function extend(next: { first: number; seq: number }, known: { first: number; seq: number }): boolean {
  if (next.seq <= known.seq && next.first >= known.first) return false;
  const apart = next.first > known.seq + 1 || known.first > next.seq + 1;
  if (apart) return next.seq > known.seq;
  next.first = Math.min(next.first, known.first);
  next.seq = Math.max(next.seq, known.seq);
  return true;
}
