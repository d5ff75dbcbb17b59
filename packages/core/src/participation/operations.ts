import {
  type Caller,
  ParleyError,
  type PresenceState,
  seqOfMessageId,
  threadId,
  ulid,
} from '@parley/protocol';

import { type CallContext, type Deps, operation, stamp } from '../operation.ts';
import { admitReader, checkThreadScope, workspaceTag } from '../threads/access.ts';
import { findThread, locateThread } from '../threads/find-thread.ts';
import { mayOverride } from '../threads/status.ts';
import { PLAIN, profileOf } from './conversation.ts';
import { advise, POLICY_RULES } from './policy.ts';
import { checkNickname } from './rules.ts';
import { checkMaySpeak } from './speaking.ts';

export const controlThread = operation('control_thread', {
  authority: 'act',
  async run(deps, caller, { thread_id, control, idempotency_key }, { event_id }) {
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `control:${thread_id}`, idempotency_key, event_id);
    const profile =
      'invite' in control ? control.invite.profile : 'profile' in control ? control.profile : {};
    if (profile !== undefined) deps.profiles.warn(profile);
    const { result } = await deps.log.append({
      type: 'control_thread',
      ...head,
      thread_id,
      input: { control },
    });
    if ('mute' in control) deps.mutes.look();
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
    return { respond, rule, reason: POLICY_RULES[rule] };
  },
});

export const setPresence = operation('set_presence', {
  authority: 'look',
  async run(deps, caller, input, { event_id }) {
    const { thread_id, state, profile, ttl_ms = deps.presenceTtlMs, persist } = input;
    const { workspace_id, agent_id } = caller;
    const located = await locateThread(deps, caller, thread_id);
    if (profile !== undefined) {
      checkMaySpeak(located, caller, 'leave profile out to say how you are present');
      checkNickname(located.thread, agent_id, profile.nickname, 'profile.nickname');
      deps.profiles.warn(profile);
    }
    const before = deps.presence.of(thread_id).get(agent_id)?.state ?? 'offline';
    const transition = persist === true ? transitionOf(before, state) : undefined;
    let kept = {};
    if (transition !== undefined) {
      const head = stamp(deps, caller, thread_id, undefined, event_id);
      const note = { type: 'note_presence', ...head, thread_id, input: { transition, state } } as const;
      const { seq, message_id } = (await deps.log.append(note)).result as { seq: number; message_id: string };
      kept = { seq, message_id };
    }
    const presence = { thread_id, workspace_id, agent_id, state };
    deps.presence.set(profile === undefined ? presence : { ...presence, profile }, ttl_ms);
    return { ok: true, expires_at: new Date(deps.clock.now() + ttl_ms).toISOString(), ...kept };
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
        const profile = held?.profile ?? profileOf(conversation, agent_id);
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
  run: (deps, caller, input, context) => say(deps, caller, 'assign_task', input, context),
});

export const reportResult = operation('report_result', {
  authority: 'act',
  run: (deps, caller, input, context) => say(deps, caller, 'report_result', input, context),
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

/** What is said in a thread is written once per key. */
async function say(
  deps: Deps,
  caller: Caller,
  type: 'assign_task' | 'report_result',
  { thread_id, ...content }: { thread_id: string; idempotency_key?: string | undefined },
  { event_id, trace }: CallContext,
): Promise<never> {
  checkThreadScope(thread_id, caller);
  const head = stamp(deps, caller, thread_id, content.idempotency_key, event_id, trace);
  return (await deps.log.append({ type, ...head, thread_id, input: content as never })).result as never;
}

function transitionOf(before: PresenceState, now: PresenceState): string | undefined {
  if (before === now) return undefined;
  return now === 'thinking' ? 'thinking.start' : before === 'thinking' ? 'thinking.end' : now;
}
