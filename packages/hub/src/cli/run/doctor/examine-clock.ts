import { clockState } from '@parley/core';

import type { RecordPlace } from '../../../record/record-place.ts';
import type { Check } from './check.ts';
import { span } from '../../span.ts';

/** A clock that has jumped is no fault of the record: nothing was forgotten by it. */
export async function checkClock(place: RecordPlace): Promise<Check> {
  const name = 'clock';
  try {
    const known = await place.clock();
    if (known === undefined) return { name, ok: true, detail: 'not looked at yet' };
    const { ahead_ms, believed_at, jumps } = clockState(known);
    const last = jumps.at(-1);
    if (believed_at !== undefined)
      return {
        name,
        ok: true,
        detail: `jumped ahead by ${span(ahead_ms)}; nothing is forgotten by it before ${believed_at}`,
      };
    const reported = last === undefined ? '' : `; its last jump was from ${last.from} to ${last.to}`;
    return { name, ok: true, detail: `trusted${reported}` };
  } catch (error) {
    // A record that cannot be read is told of by its own check.
    return { name, ok: true, detail: `not known: ${error instanceof Error ? error.message : String(error)}` };
  }
}
