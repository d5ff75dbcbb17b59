import type { OutputOf, ThreadStatus, ThreadType } from '@parley/protocol';

import type { InThread } from '../command.ts';

export type CreateThread = InThread<
  'create_thread',
  { title: string; type: ThreadType; participants: string[] },
  OutputOf<'create_thread'>
>;
export type UpdateStatus = InThread<
  'update_status',
  { status: ThreadStatus; reason: string; metadata?: Record<string, unknown> | undefined },
  OutputOf<'update_thread_status'>
>;
export type RenameThread = InThread<'rename_thread', { title: string }, OutputOf<'rename_thread'>>;

/** What changes threads. */
export type ThreadCommands = CreateThread | UpdateStatus | RenameThread;
