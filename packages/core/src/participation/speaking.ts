import { type Caller, ParleyError } from '@parley/protocol';

import { invalid } from '../draft.ts';
import type { Located } from '../threads/access.ts';
import type { ThreadState } from '../threads/state.ts';
import { mayOverride } from '../threads/status.ts';
import { namesIn } from './calls.ts';
import { type Conversation, PLAIN } from './conversation.ts';

/** Refuses what a closed thread does not take. */
export function checkOpen(state: ThreadState): void {
  if (state.status === 'closed')
    throw new ParleyError('CONFLICT', 'the thread is closed; reopen it or start a new one');
}

/** Refuses what one says who may not speak here now, and says why. */
export function checkSpeaking(located: Located, caller: Caller): void {
  if (located.thread !== undefined) checkOpen(located.thread);
  checkMaySpeak(located, caller);
}

/**
 * The one place where mute and pause hold: whatever puts words of a caller into a thread asks here. They hold in a
 * thread's side channels too, since all of the thread read those.
 */
export function checkMaySpeak(located: Located, caller: Caller, otherwise = 'keep listening'): void {
  checkUnmuted(located, caller, otherwise);
  if (caller.role !== 'operator') checkUnpaused(located, otherwise);
}

/** The same for what steers a thread and brings words with it: who may steer goes on to do so while it is paused. */
export function checkMayMove(located: Located, caller: Caller): void {
  checkUnmuted(located, caller);
  if (!mayOverride(caller)) checkUnpaused(located);
}

/** Refuses what one says who is muted here. */
export function checkUnmuted(located: Located, { agent_id }: Caller, otherwise = 'keep listening'): void {
  if (!isIn(located, ({ muted }) => muted.includes(agent_id))) return;
  throw new ParleyError(
    'FORBIDDEN',
    `you are muted in this thread: ${otherwise}; a person or an orchestrator can unmute you`,
    { reason: 'muted', hint: 'go on reading; say it when you are no longer muted' },
  );
}

function checkUnpaused(located: Located, otherwise = 'keep listening'): void {
  if (!isIn(located, ({ paused }) => paused)) return;
  throw new ParleyError(
    'FORBIDDEN',
    `the thread is paused: only people may speak until it is resumed; ${otherwise}`,
    { reason: 'paused', hint: 'go on reading; say it when the thread goes on' },
  );
}

function isIn(located: Located, holds: (conversation: Conversation) => boolean): boolean {
  if (located.thread === undefined) return false;
  const { thread, main } = located;
  return holds(thread.conversation ?? PLAIN) || (main !== undefined && holds(main.conversation ?? PLAIN));
}

/** Refuses an address that nobody of the thread has. */
export function checkTarget(state: ThreadState, to: string, field = 'to'): void {
  if (to === 'all' || state.participants.includes(to)) return;
  throw invalid(field, `${field}: ${to} is not a participant of this thread; those are ${namesIn(state)}`);
}
