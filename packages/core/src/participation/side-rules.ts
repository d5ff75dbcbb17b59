import { ParleyError } from '@parley/protocol';

import type { CloseSide, OpenSide, Rule } from '../commands.ts';
import { append, draft, refuseObserver } from '../draft.ts';
import { admit } from '../threads/access.ts';
import { statusEntry } from '../threads/rules.ts';
import { evolve, isDisputed } from '../threads/state.ts';
import { checkTransition, mayOverride } from '../threads/status.ts';
import { checkMayMove, checkSpeaking } from './speaking.ts';

/** How many side channels of one thread may be open at once. */
const MAX_SIDE_CHANNELS = 50;

/** Opens a thread beside a thread: both learn of it in one transaction. */
const openSide: Rule<OpenSide> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const main = admit(located, command.caller);
    const { caller, input, side_id } = command;
    refuseObserver(caller.role, 'branch off');
    checkSpeaking(located, caller);
    if (main.side_of !== undefined)
      throw new ParleyError('CONFLICT', 'a side channel has no side channels; open one on the main thread');
    if ((main.side_channels ?? []).length >= MAX_SIDE_CHANNELS)
      throw new ParleyError('CONFLICT', `${MAX_SIDE_CHANNELS} side channels are open here; close some first`);
    const participants = [...new Set([caller.agent_id, ...input.participants])];
    const stranger = participants.find(
      (name) => name !== caller.agent_id && !main.participants.includes(name),
    );
    if (stranger !== undefined) {
      throw new ParleyError(
        'VALIDATION_ERROR',
        `participants: ${stranger} is not in the main thread; invite first`,
        {
          field: 'participants',
        },
      );
    }
    const created = draft(undefined, side_id, command, {
      type: 'thread.created',
      kind: 'system',
      body: input.title,
      metadata: {
        workspace_id: main.workspace_id,
        title: input.title,
        type: main.type,
        participants,
        side_of: main.thread_id,
        purpose: input.purpose,
      },
    });
    const { entry, change } = append(main, apart(command), {
      type: 'side.opened',
      kind: 'system',
      body: `side channel: ${input.title}`,
      metadata: { side_id, title: input.title, purpose: input.purpose, owner: caller.agent_id, participants },
    });
    return {
      changes: [{ entries: [created], thread: evolve(undefined, created) }, change],
      result: { thread_id: side_id, main_thread_id: main.thread_id, link_message_id: entry.message_id },
    };
  },
};

/** Closes a side channel and brings its summary back to the main thread. */
const closeSide: Rule<CloseSide> = {
  needs: ({ thread_id, main_id }) => ({ thread: thread_id, other: main_id }),
  decide({ located, other }, command) {
    const side = admit(located, command.caller);
    const main = other?.thread;
    refuseObserver(command.caller.role, 'close');
    if (main === undefined || side.side_of !== main.thread_id)
      throw new ParleyError('CONFLICT', 'this thread is no side channel');
    if (command.caller.agent_id !== side.created_by && !mayOverride(command.caller)) {
      throw new ParleyError(
        'INSUFFICIENT_AUTHORITY',
        'only the owner of a side channel, an operator or an orchestrator may close it',
      );
    }
    checkMayMove({ thread: side, main }, command.caller);
    checkTransition(side.status, 'closed', isDisputed(side), command.caller);
    const { summary } = command.input;
    const closing = statusEntry(side, command, 'closed', summary);
    const { entry, change } = append(main, apart(command), {
      type: 'side.closed',
      kind: 'system',
      body: summary,
      metadata: { side_id: side.thread_id, title: side.title, summary, last_seq: side.last_seq },
    });
    return {
      changes: [{ entries: [closing], thread: evolve(side, closing) }, change],
      result: {
        thread_id: side.thread_id,
        main_thread_id: main.thread_id,
        summary_message_id: entry.message_id,
      },
    };
  },
};

/** Two entries of one command must not get one id where their threads are of the same length. */
function apart<C extends { salt: number }>(command: C): C {
  return { ...command, salt: command.salt ^ 1 };
}

export const sideRules = { open_side: openSide, close_side: closeSide };
