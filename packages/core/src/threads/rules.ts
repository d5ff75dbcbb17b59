import { ParleyError } from '@parley/protocol';

import type { CreateThread, RenameThread, Rule, ThreadCommand, UpdateStatus } from '../commands.ts';
import { append, draft, refuseObserver } from '../draft.ts';
import type { Entry } from '../entry.ts';
import { checkMayMove } from '../participation/speaking.ts';
import { admit } from './access.ts';
import { evolve, isDisputed, type ThreadState } from './state.ts';
import { checkTransition, mayOverride } from './status.ts';

const createThread: Rule<CreateThread> = {
  needs: () => ({}),
  decide(_loaded, command) {
    const { caller, input, thread_id } = command;
    const participants = [...new Set([caller.agent_id, ...input.participants])];
    const entry = draft(undefined, thread_id, command, {
      type: 'thread.created',
      kind: 'system',
      body: input.title,
      metadata: { workspace_id: caller.workspace_id, title: input.title, type: input.type, participants },
    });
    const thread = evolve(undefined, entry);
    return {
      changes: [{ entries: [entry], thread }],
      result: { thread_id, status: thread.status, created_at: thread.created_at },
    };
  },
};

const updateStatus: Rule<UpdateStatus> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const state = admit(located, command.caller);
    refuseObserver(command.caller.role, 'change');
    const { status, reason, metadata } = command.input;
    checkMayMove(located, command.caller);
    checkSide(state, status);
    checkTransition(state.status, status, isDisputed(state), command.caller);
    const entry = statusEntry(state, command, status, reason, metadata === undefined ? {} : { metadata });
    const thread = evolve(state, entry);
    return {
      changes: [{ entries: [entry], thread }],
      result: { thread_id: thread.thread_id, status, updated_at: thread.updated_at },
    };
  },
};

const renameThread: Rule<RenameThread> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const state = admit(located, command.caller);
    const { caller } = command;
    if (!mayOverride(caller) && caller.agent_id !== state.created_by) {
      throw new ParleyError(
        'INSUFFICIENT_AUTHORITY',
        'only an operator, an orchestrator or the one who made the thread may rename it',
      );
    }
    checkMayMove(located, caller);
    const { title } = command.input;
    const { entry, change } = append(state, command, {
      type: 'thread.renamed',
      kind: 'system',
      body: title,
      metadata: { from: state.title, title },
    });
    return {
      changes: [change],
      result: { thread_id: state.thread_id, title, updated_at: entry.created_at },
    };
  },
};

/** A side channel ends with a summary in its main thread, once and for all. */
function checkSide({ side_of, status }: ThreadState, to: string): void {
  if (side_of === undefined) return;
  if (status === 'closed')
    throw new ParleyError('CONFLICT', 'a closed side channel stays closed; open another on the main thread');
  if (to === 'closed')
    throw new ParleyError('CONFLICT', 'close a side channel with close_side_channel and a summary');
}

export const threadRules = {
  create_thread: createThread,
  update_status: updateStatus,
  rename_thread: renameThread,
};

/** The entry that moves a thread to another status. */
export function statusEntry(
  state: ThreadState,
  command: ThreadCommand,
  to: string,
  reason: string,
  /** The message that brought it about, or what was said with it. */
  more: { cause?: string; metadata?: Record<string, unknown> } = {},
): Entry {
  return draft(state, state.thread_id, command, {
    type: 'thread.status',
    kind: 'system',
    body: `status ${state.status} → ${to}: ${reason}`,
    metadata: {
      event_type: 'thread_status_changed',
      from: state.status,
      to,
      reason,
      role: command.caller.role,
      ...more,
    },
  });
}
