import { EVENT_METADATA, knownEvent, ParleyError } from '@parley/protocol';

/** Refuses a known event whose metadata does not fit its schema; unknown event types pass as they are. */
export function checkEvent(kind: string, metadata: Record<string, unknown> | undefined): void {
  const event = knownEvent(kind, metadata);
  if (event === undefined) return;
  const checked = EVENT_METADATA[event].safeParse(metadata);
  if (checked.success) return;
  const issue = checked.error.issues[0];
  const field = ['metadata', ...(issue?.path ?? [])].join('.');
  throw new ParleyError(
    'VALIDATION_ERROR',
    `${field}: ${issue?.message ?? 'does not fit'} (event ${event})`,
    { field },
  );
}
