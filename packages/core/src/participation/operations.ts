import { ParleyError, type PresenceState, seqOfMessageId, threadId, ulid } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import { admitReader, checkThreadScope, workspaceTag } from '../threads/access.ts';
import { findThread } from '../threads/find-thread.ts';
import { mayOverride } from '../threads/status.ts';
import { PLAIN } from './conversation.ts';
import { advise, type PolicyRule } from './policy.ts';

export const controlThread = operation('control_thread', {
  authority: 'act',
  async run(deps, caller, { thread_id, control, idempotency_key }) {
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `control:${thread_id}`, idempotency_key);
    const profile =
      'invite' in control ? control.invite.profile : 'profile' in control ? control.profile : {};
    if (profile !== undefined) deps.profiles.warn(profile);
    const { result } = await deps.log.append({
      type: 'control_thread',
      ...head,
      thread_id,
      input: { control },
    });
    return result as never;
  },
});

export const shouldRespond = operation('should_respond', {
  authority: 'look',
  async run(deps, caller, { thread_id, message_id, participant = caller.agent_id }) {
    checkThreadScope(thread_id, caller);
    if (participant !== caller.agent_id && !mayOverride(caller))
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'participant: you may only ask for yourself', {
        field: 'participant',
      });
    const seq = seqOfMessageId(message_id) ?? 0;
    const { workspace_id } = caller;
    const query = { workspace_id, thread_id, after: Math.max(0, seq - 1), limit: 1, max_bytes: 1 };
    const { located, entries } = await deps.store.page(query);
    const thread = admitReader(located, caller);
    const entry = entries[0];
    if (entry?.message_id !== message_id)
      throw new ParleyError('NOT_FOUND', 'no such message in this thread');
    const human = participant === caller.agent_id && caller.role === 'operator';
    const { respond, rule } = advise(thread, entry, participant, human, deps.clock.now());
    return { respond, rule, reason: REASONS[rule] };
  },
});

export const setPresence = operation('set_presence', {
  authority: 'look',
  async run(deps, caller, { thread_id, state, profile, ttl_ms = deps.presenceTtlMs, persist }) {
    const { workspace_id, agent_id } = caller;
    await findThread(deps, caller, thread_id);
    if (profile !== undefined) deps.profiles.warn(profile);
    const presence = { thread_id, workspace_id, agent_id, state };
    const { before } = deps.presence.set(profile === undefined ? presence : { ...presence, profile }, ttl_ms);
    const expires_at = new Date(deps.clock.now() + ttl_ms).toISOString();
    const transition = persist === true ? transitionOf(before, state) : undefined;
    if (transition === undefined) return { ok: true, expires_at };
    const head = stamp(deps, caller, '', undefined);
    const input = { transition, state };
    const { result } = await deps.log.append({ type: 'note_presence', ...head, thread_id, input });
    return { ok: true, expires_at, seq: result['seq'] as number };
  },
});

export const listPresence = operation('list_presence', {
  authority: 'look',
  async run(deps, caller, { thread_id }) {
    const { participants, conversation = PLAIN } = await findThread(deps, caller, thread_id);
    const present = deps.presence.of(thread_id);
    const names = [...new Set([...participants, ...present.keys()])];
    return {
      participants: names.map((agent_id) => {
        const held = present.get(agent_id);
        const profile = held?.profile ?? conversation.profiles[agent_id];
        return {
          agent_id,
          state: held?.state ?? 'offline',
          since: held === undefined ? null : new Date(held.since).toISOString(),
          ...(profile === undefined ? {} : { profile }),
          muted: conversation.muted.includes(agent_id),
        };
      }),
    };
  },
});

export const assignTask = operation('assign_task', {
  authority: 'act',
  async run(deps, caller, { thread_id, ...content }) {
    checkThreadScope(thread_id, caller);
    deps.messageQuota.spend(caller);
    const head = stamp(deps, caller, thread_id, content.idempotency_key);
    const command = { type: 'assign_task', ...head, thread_id, input: content as never } as const;
    return (await deps.log.append(command)).result as never;
  },
});

export const reportResult = operation('report_result', {
  authority: 'act',
  async run(deps, caller, { thread_id, ...content }) {
    checkThreadScope(thread_id, caller);
    deps.messageQuota.spend(caller);
    const head = stamp(deps, caller, thread_id, content.idempotency_key);
    const command = { type: 'report_result', ...head, thread_id, input: content as never } as const;
    return (await deps.log.append(command)).result as never;
  },
});

export const openSideChannel = operation('open_side_channel', {
  authority: 'act',
  async run(deps, caller, { thread_id, idempotency_key, ...input }) {
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `side:${thread_id}`, idempotency_key);
    const side_id = threadId(ulid(head.now, deps.chance.bytes(16)), workspaceTag(caller.workspace_id));
    const { result } = await deps.log.append({ type: 'open_side', ...head, thread_id, side_id, input });
    return result as never;
  },
});

export const closeSideChannel = operation('close_side_channel', {
  authority: 'act',
  async run(deps, caller, { thread_id, idempotency_key, summary }) {
    const { side_of } = await findThread(deps, caller, thread_id);
    if (side_of === undefined) throw new ParleyError('CONFLICT', 'this thread is no side channel');
    const head = stamp(deps, caller, `side:${thread_id}`, idempotency_key);
    const command = { type: 'close_side', ...head, thread_id, main_id: side_of, input: { summary } } as const;
    return (await deps.log.append(command)).result as never;
  },
});

function transitionOf(before: PresenceState, now: PresenceState): string | undefined {
  if (before === now) return undefined;
  return now === 'thinking' ? 'thinking.start' : before === 'thinking' ? 'thinking.end' : now;
}

const REASONS: Record<PolicyRule, string> = {
  own_event: 'you said it yourself',
  not_a_participant: 'you take no part in this thread',
  closed: 'the thread is closed',
  ended: 'the conversation was declared done, or its time is up',
  muted: 'you are muted: keep listening',
  paused: 'the thread is paused: only people speak',
  prodded: 'you were prodded',
  invited: 'you were invited',
  not_conversation: 'this is no message to anybody',
  task: 'the task is for you or your role',
  targeted: 'it is addressed to you',
  targeted_elsewhere: 'it is addressed to somebody else',
  mentioned: 'you were mentioned',
  mentioned_without_discussion: 'an agent mentioned you, and discussion among agents is off here',
  others_mentioned: 'it calls others by name',
  invited_auto: 'a person spoke to all, and the invited are asked to answer here',
  small_thread: 'the thread is small: respond if you have something to add',
  large_thread: 'the thread is large: respond only when you are called',
};
