import { knownEvent } from '@parley/protocol';

import type { AckRead, PostMessage, Rule } from '../commands.ts';
import { draft, invalid, refuseObserver } from '../draft.ts';
import { settleCalls } from '../participation/calls.ts';
import { checkSpeaking, checkTarget } from '../participation/speaking.ts';
import { admit } from '../threads/access.ts';
import { checkRoom, checkSettling } from '../threads/findings.ts';
import { statusEntry } from '../threads/rules.ts';
import { evolve } from '../threads/state.ts';
import { TRANSITIONS } from '../threads/status.ts';
import { checkReply, replyNeeds } from './reply.ts';

const postMessage: Rule<PostMessage> = {
  needs: ({ thread_id, input: { in_reply_to } }) => replyNeeds(thread_id, in_reply_to),
  decide(loaded, command) {
    const state = admit(loaded.located, command.caller);
    refuseObserver(command.caller.role, 'post to');
    checkSpeaking(loaded.located, command.caller);
    const { input } = command;
    const { to } = input;
    checkReply(loaded, input.in_reply_to);
    if (to !== undefined) checkTarget(state, to);
    const event = knownEvent(input.kind, input.metadata);
    checkRoom(state.findings, event);
    checkSettling(state.findings, event, input, command.caller);
    const content = { ...input, type: 'message' as const, to: to === 'all' ? undefined : to };
    const entry = draft(state, state.thread_id, command, content);
    const calls = settleCalls(state, entry, { isPost: true, repliedTo: loaded.entry?.sender_agent_id });
    const entries = [entry];
    let thread = evolve(state, entry);
    const next =
      event === 'thread_escalated' ? 'blocked' : event === 'thread_resolved' ? 'resolved' : undefined;
    if (next !== undefined && TRANSITIONS[thread.status][next] === 'anyone') {
      const reason =
        typeof input.metadata?.['reason'] === 'string' ? input.metadata['reason'] : (event ?? '');
      const change = statusEntry(thread, command, next, reason, { cause: entry.message_id });
      entries.push(change);
      thread = evolve(thread, change);
    }
    return {
      changes: [{ entries, thread }],
      result: {
        message_id: entry.message_id,
        seq: entry.seq,
        thread_status: thread.status,
        created_at: entry.created_at,
        ...calls,
      },
    };
  },
};

const ackRead: Rule<AckRead> = {
  needs: ({ thread_id, input }) => ({ thread: thread_id, cursor: true, entry_seq: input.last_read_seq }),
  decide(loaded, command) {
    const state = admit(loaded.located, command.caller);
    const { last_read_seq } = command.input;
    const known = loaded.cursor?.last_read_seq ?? 0;
    if (last_read_seq > state.last_seq) {
      throw invalid('last_read_seq', `last_read_seq is beyond the newest message (${state.last_seq})`);
    }
    if (last_read_seq < known)
      throw invalid('last_read_seq', `last_read_seq is below the cursor (${known}), which never goes back`);
    if (loaded.cursor !== undefined && last_read_seq === known) {
      return { changes: [], result: { ok: true, updated_at: loaded.cursor.updated_at } };
    }
    const updated_at = new Date(command.now).toISOString();
    const cursor = {
      thread_id: state.thread_id,
      agent_id: command.caller.agent_id,
      last_read_seq,
      last_acked_message_id: last_read_seq === 0 ? null : (loaded.entry?.message_id ?? null),
      updated_at,
    };
    return { changes: [], cursor, result: { ok: true, updated_at } };
  },
};

export const messageRules = { post_message: postMessage, ack_read: ackRead };
