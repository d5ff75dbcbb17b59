import { type Caller, ParleyError } from '@parley/protocol';

import { mayOverride } from '../threads/status.ts';

/** Refuses commands from those who only work. */
export function requireCommander(caller: Caller): void {
  if (!mayOverride(caller) || caller.read_only === true)
    throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only an operator or orchestrator may command an agent');
}
