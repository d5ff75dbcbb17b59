/** The event types the hub understands; the store's thread needs their names and not their schemas. */
export const EVENT_TYPES = [
  'finding_reported',
  'fix_pushed',
  're_review_requested',
  'finding_verified',
  'finding_rejected',
  'thread_escalated',
  'thread_resolved',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

const known: ReadonlySet<string> = new Set(EVENT_TYPES);

/** The event type a message announces, when it is one of the registry. */
export function knownEvent(
  kind: string,
  metadata: Record<string, unknown> | undefined,
): EventType | undefined {
  if (kind !== 'event' || typeof metadata?.['event_type'] !== 'string') return undefined;
  const type = metadata['event_type'];
  // The set is made of them.
  return known.has(type) ? (type as EventType) : undefined;
}
