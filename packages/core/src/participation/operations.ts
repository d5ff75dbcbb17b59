import {
  type Caller,
  type Control,
  type ControlVerb,
  ParleyError,
  type PresenceState,
  seqOfMessageId,
  threadId,
  ulid,
} from '@parley/protocol';

import type { Entry } from '../entry.ts';
import type { CallContext } from '../gate.ts';
import { operation, stamp } from '../operation.ts';
import type { AgentPorts, ConversationPorts, RecordPorts } from '../ports.ts';
import { checkReply } from '../messages/reply.ts';
import { admitReader, checkThreadScope, type Located, workspaceTag } from '../threads/access.ts';
import { findThread, locateThread } from '../threads/find-thread.ts';
import { mayOverride } from '../threads/status.ts';
import { PLAIN, profileOf } from './conversation.ts';
import { advise, answering, POLICY_RULES } from './policy.ts';
import { checkNickname } from './rules.ts';
import { checkMaySpeak, checkTarget } from './speaking.ts';

const controlThread = operation('control_thread', {
  authority: 'act',
  async run(
    deps: RecordPorts & ConversationPorts,
    caller,
    { thread_id, idempotency_key, ...input },
    { event_id },
  ) {
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `control:${thread_id}`, idempotency_key, event_id);
    const { invite, profile = invite?.profile, mute, remove, leave }: Verbs = input.control ?? {};
    if (profile !== undefined) deps.profiles.warn(profile);
    const { result } = await deps.log.append({ type: 'control_thread', ...head, thread_id, input });
    if (mute !== undefined) deps.mutes.look();
    const { workspace_id } = caller;
    const agent_id = leave === true ? caller.agent_id : remove?.participant_id;
    if (agent_id !== undefined) {
      deps.presence.set({ thread_id, workspace_id, agent_id, state: 'offline' }, 0);
      await deps.presence.settled();
    }
    return result;
  },
});

const shouldRespond = operation('should_respond', {
  authority: 'look',
  async run(
    deps: RecordPorts & ConversationPorts,
    caller,
    { thread_id, message_id, participant = caller.agent_id },
  ) {
    checkThreadScope(thread_id, caller);
    if (participant !== caller.agent_id && !mayOverride(caller))
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'participant: you may only ask for yourself', {
        field: 'participant',
      });
    const { located, entry } = await entryOf(deps, caller, thread_id, message_id);
    const thread = admitReader(located, caller);
    if (entry?.message_id !== message_id)
      throw new ParleyError('NOT_FOUND', 'no such message in this thread');
    const human = participant === caller.agent_id && caller.role === 'operator';
    const { respond, rule } = advise(thread, entry, participant, human, deps.clock.now());
    // Nobody in particular is called: who is at an answer already is let finish.
    const wait_for = rule === 'small_thread' ? answering(deps.presence.of(thread_id), participant) : [];
    if (wait_for.length === 0) return { respond, rule, reason: POLICY_RULES[rule] };
    return { respond: false, rule: 'others_typing', reason: POLICY_RULES.others_typing, wait_for };
  },
});

const setPresence = operation('set_presence', {
  authority: 'look',
  async run(deps: RecordPorts & ConversationPorts, caller, input, { event_id }) {
    const { thread_id, state, profile, ttl_ms = deps.presenceTtlMs, persist, ...aside } = input;
    const { workspace_id, agent_id } = caller;
    const located = await locateThread(deps, caller, thread_id);
    if (aside.to !== undefined) checkTarget(located.thread, aside.to);
    if (aside.tags !== undefined) checkMaySpeak(located, caller, 'leave tags out to say how you are present');
    if (aside.in_reply_to !== undefined)
      checkReply(await entryOf(deps, caller, thread_id, aside.in_reply_to), aside.in_reply_to);
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
      const note = {
        type: 'note_presence',
        ...head,
        thread_id,
        input: { transition, state, ...aside },
      } as const;
      kept = (await deps.log.append(note)).result;
    }
    const presence = { thread_id, workspace_id, agent_id, state, ...aside };
    deps.presence.set(profile === undefined ? presence : { ...presence, profile }, ttl_ms);
    // Whoever hears of this answer may ask another node.
    await deps.presence.settled();
    return { ok: true, expires_at: new Date(deps.clock.now() + ttl_ms).toISOString(), ...kept };
  },
});

const listPresence = operation('list_presence', {
  authority: 'look',
  async run(deps: RecordPorts & ConversationPorts & AgentPorts, caller, { thread_id }) {
    const { participants, conversation = PLAIN } = await findThread(deps, caller, thread_id);
    const present = deps.presence.of(thread_id);
    const names = [...new Set([...participants, ...present.keys()])];
    return {
      participants: names.map((agent_id) => {
        const held = present.get(agent_id);
        const profile = held?.profile ?? profileOf(conversation, agent_id);
        const since = held?.since ?? connectedSince(deps, caller.workspace_id, agent_id);
        return {
          agent_id,
          state: held?.state ?? (since === undefined ? 'offline' : 'listening'),
          since: since === undefined ? null : new Date(since).toISOString(),
          ...(profile === undefined ? {} : { profile }),
          muted: conversation.muted.includes(agent_id),
        };
      }),
    };
  },
});

const assignTask = operation('assign_task', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { thread_id, ...input }, context) {
    const head = spoken(deps, caller, thread_id, input.idempotency_key, context);
    return (await deps.log.append({ type: 'assign_task', ...head, input })).result;
  },
});

const reportResult = operation('report_result', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { thread_id, ...input }, context) {
    const head = spoken(deps, caller, thread_id, input.idempotency_key, context);
    return (await deps.log.append({ type: 'report_result', ...head, input })).result;
  },
});

const openSideChannel = operation('open_side_channel', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { thread_id, idempotency_key, ...input }) {
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `side:${thread_id}`, idempotency_key);
    const side_id = threadId(ulid(head.now, deps.chance.bytes(16)), workspaceTag(caller.workspace_id));
    const { result } = await deps.log.append({ type: 'open_side', ...head, thread_id, side_id, input });
    return result;
  },
});

const closeSideChannel = operation('close_side_channel', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { thread_id, idempotency_key, summary }) {
    const { side_of } = await findThread(deps, caller, thread_id);
    if (side_of === undefined) throw new ParleyError('CONFLICT', 'this thread is no side channel');
    const head = stamp(deps, caller, `side:${thread_id}`, idempotency_key);
    const command = { type: 'close_side', ...head, thread_id, main_id: side_of, input: { summary } } as const;
    return (await deps.log.append(command)).result;
  },
});

/** The entry that stands where a message id points to, and its thread. */
async function entryOf(
  { store }: RecordPorts,
  { workspace_id }: Caller,
  thread_id: string,
  messageId: string,
): Promise<{ located: Located; entry: Entry | undefined }> {
  const after = Math.max(0, (seqOfMessageId(messageId) ?? 0) - 1);
  const { located, entries } = await store.page({ workspace_id, thread_id, after, limit: 1, max_bytes: 1 });
  return { located, entry: entries[0] };
}

/** Since when somebody is connected, by whatever way. */
function connectedSince(
  { presence, links }: ConversationPorts & AgentPorts,
  workspaceId: string,
  agentId: string,
): number | undefined {
  return links.of(workspaceId).get(agentId)?.[0]?.since ?? presence.connectedSince(workspaceId, agentId);
}

/** The head of what is said in a thread: it is written once per key. */
function spoken(
  deps: RecordPorts,
  caller: Caller,
  thread_id: string,
  key: string | undefined,
  { event_id, trace }: CallContext,
) {
  checkThreadScope(thread_id, caller);
  return { ...stamp(deps, caller, thread_id, key, event_id, trace), thread_id };
}

/** A control by its verbs, of which it has one at most. */
type Verbs = { [V in ControlVerb]?: Extract<Control, Record<V, unknown>>[V] };

function transitionOf(before: PresenceState, now: PresenceState): string | undefined {
  if (before === now) return undefined;
  return now === 'thinking' ? 'thinking.start' : before === 'thinking' ? 'thinking.end' : now;
}

/** By name: the table of operations takes them from here. */
export const participationOperations = {
  control_thread: controlThread,
  should_respond: shouldRespond,
  set_presence: setPresence,
  list_presence: listPresence,
  assign_task: assignTask,
  report_result: reportResult,
  open_side_channel: openSideChannel,
  close_side_channel: closeSideChannel,
};
