import type { Control, OutputOf } from '@parley/protocol';

import type { Aside, Content, InThread } from '../command.ts';
import type { Placed } from '../results.ts';

export type ControlThread = InThread<
  'control_thread',
  Aside & { control?: Control | undefined },
  OutputOf<'control_thread'>
>;
/** Their time is up: the hub lets those speak again who were muted for a while. */
export type EndMutes = InThread<'end_mutes', Record<string, never>>;
export type AssignTask = InThread<
  'assign_task',
  Content & { to?: string | undefined; role?: string | undefined },
  OutputOf<'assign_task'>
>;
export type ReportResult = InThread<
  'report_result',
  Omit<Content, 'body'> & {
    task: string;
    to?: string | undefined;
    body?: string | undefined;
    output?: Record<string, unknown> | undefined;
  },
  OutputOf<'report_result'>
>;
/** A presence that was asked to stand in the log. */
export type NotePresence = InThread<'note_presence', Aside & { transition: string; state: string }, Placed>;
/** `thread_id` is the main thread, `side_id` the new one. */
export type OpenSide = InThread<
  'open_side',
  { title: string; purpose: string; participants: string[] },
  OutputOf<'open_side_channel'>
> & {
  side_id: string;
};
/** `thread_id` is the side channel, `main_id` the thread it hangs on. */
export type CloseSide = InThread<'close_side', { summary: string }, OutputOf<'close_side_channel'>> & {
  main_id: string;
};

/** What changes who takes part in a thread and how. */
export type ParticipationCommands =
  | ControlThread
  | EndMutes
  | AssignTask
  | ReportResult
  | NotePresence
  | OpenSide
  | CloseSide;
