import { EVENT_METADATA, knownEvent, ParleyError, issueWords } from '@parley/protocol';

import { ENTRY_TYPES } from '../entry.ts';

/** What anybody may say, as an event of its own name. */
const SPOKEN: readonly string[] = ['message', 'control', 'presence'];

/** The event types that mean something the hub itself has put on record: its own entries, dotted or as messages tell them. */
const HUB_EVENTS: ReadonlySet<string> = new Set([
  ...ENTRY_TYPES.filter((type) => !SPOKEN.includes(type)).flatMap((type) => [type, type.replace('.', '_')]),
  'thread_status_changed',
  'role_alias.deprecation',
  'action.deprecation',
]);

/**
 * Refuses a known event whose metadata does not fit its schema, and in any message the event types that the hub itself
 * writes, since readers take them for the truth; other event types pass as they are.
 */
export function checkEvent(kind: string, metadata: Record<string, unknown> | undefined): void {
  const said = metadata?.['event_type'];
  if (typeof said === 'string' && HUB_EVENTS.has(said))
    throw new ParleyError('VALIDATION_ERROR', `metadata.event_type: only the hub itself writes ${said}`, {
      field: 'metadata.event_type',
    });
  const event = knownEvent(kind, metadata);
  if (event === undefined) return;
  const checked = EVENT_METADATA[event].safeParse(metadata);
  if (checked.success) return;
  const issue = checked.error.issues[0];
  const field = ['metadata', ...(issue?.path ?? [])].join('.');
  throw new ParleyError('VALIDATION_ERROR', `${field}: ${issueWords(issue, metadata)} (event ${event})`, {
    field,
  });
}
