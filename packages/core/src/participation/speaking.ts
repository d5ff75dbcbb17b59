import { type Caller, ParleyError } from '@parley/protocol';

import { invalid } from '../draft.ts';
import type { ThreadState } from '../threads/state.ts';
import { PLAIN } from './conversation.ts';

/** Refuses what a closed thread does not take. */
export function checkOpen(state: ThreadState): void {
  if (state.status === 'closed')
    throw new ParleyError('CONFLICT', 'the thread is closed; reopen it or start a new one');
}

/** Refuses the message of one who may not speak here now, and says why. */
export function checkSpeaking(state: ThreadState, { agent_id, role }: Caller): void {
  checkOpen(state);
  const { muted, paused } = state.conversation ?? PLAIN;
  if (muted.includes(agent_id)) {
    throw new ParleyError(
      'FORBIDDEN',
      'you are muted in this thread: keep listening; a person or an orchestrator can unmute you',
      { reason: 'muted' },
    );
  }
  if (paused && role !== 'operator') {
    throw new ParleyError(
      'FORBIDDEN',
      'the thread is paused: only people may speak until it is resumed; keep listening',
      { reason: 'paused' },
    );
  }
}

/** Refuses an address that nobody of the thread has. */
export function checkTarget(state: ThreadState, to: string, field = 'to'): void {
  if (to === 'all' || state.participants.includes(to)) return;
  throw invalid(field, `${field}: ${to} is not a participant of this thread`);
}
