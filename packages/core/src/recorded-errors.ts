import type { ParleyError } from '@parley/protocol';

const recorded = new WeakSet<ParleyError>();

/** This error stands on record: at this node, or at the one that was asked. */
export function markRecorded(error: ParleyError): void {
  recorded.add(error);
}

/** True for an error that a gate has put on record, so that nobody records it twice. */
export function isRecorded(error: ParleyError): boolean {
  return recorded.has(error);
}
