import type { OutputOf, Quiet } from '@parley/protocol';

import type { InThread } from '../command.ts';
import type { WakeBudget } from './budget.ts';
import type { Wake } from './wake.ts';

/** What is told of a wake in the journal of its target. */
export interface WakeStep {
  text: string;
  facts: Record<string, unknown>;
}
/** `thread_id` is the journal of the target; the input is what was asked for, the same for every step. */
export type NoteWake = InThread<
  'note_wake',
  { thread_id: string; target_agent_id: string; reason: string },
  Pick<Wake, 'trigger_id' | 'state'>
> & {
  wake: Wake;
  step?: WakeStep;
  /** Only within this many an hour; a wake beyond it is skipped. */
  budget?: WakeBudget;
};
/** Who is not to be woken, or again may be; without a name it is everybody. */
/** `thread_id` is the journal of the agent; where it is for everybody, of the one who says so. */
export type SetQuiet = InThread<
  'set_quiet',
  {
    quiet: boolean;
    of_agent?: string | undefined;
    for_ms?: number | undefined;
    hours?: Quiet['hours'];
    reason?: string | undefined;
  },
  OutputOf<'set_quiet'>
>;

/** What changes wakes. */
export type WakeCommands = NoteWake | SetQuiet;
