import {
  type Caller,
  type Control,
  type ControlVerb,
  LIMITS,
  ParleyError,
  type Profile,
  RESERVED_NAMES,
  seqOfMessageId,
} from '@parley/protocol';

import type {
  Aside,
  AssignTask,
  ControlThread,
  Decision,
  EndMutes,
  Loaded,
  NotePresence,
  ReportResult,
  Rule,
} from '../commands.ts';
import { append, type Draft, invalid, refuseObserver } from '../draft.ts';
import { checkReply, replyNeeds } from '../messages/reply.ts';
import { admit } from '../threads/access.ts';
import type { ThreadState } from '../threads/state.ts';
import { mayOverride } from '../threads/status.ts';
import { settleCalls } from './calls.ts';
import { mutesOver, PLAIN } from './conversation.ts';
import { putTimedMutes } from './timed-mutes.ts';
import { checkMaySpeak, checkOpen, checkSpeaking, checkTarget } from './speaking.ts';

/** Who may give which control: operators and orchestrators (steer), or every participant. */
export const CONTROL_AUTHORITY: Readonly<Record<ControlVerb, 'steer' | 'participant'>> = {
  mute: 'steer',
  unmute: 'steer',
  pause: 'steer',
  prod: 'participant',
  done: 'steer',
  ttl_seconds: 'steer',
  discussion: 'steer',
  invited_auto: 'steer',
  invite: 'steer',
  remove: 'steer',
  leave: 'participant',
  policy: 'steer',
  profile: 'participant',
};

const controlThread: Rule<ControlThread> = {
  needs: ({ thread_id, input }) => replyNeeds(thread_id, input.in_reply_to),
  decide(loaded, command) {
    const { located } = loaded;
    const state = admit(located, command.caller);
    refuseObserver(command.caller.role, 'steer');
    const { control, tags } = command.input;
    if (control !== undefined) checkAuthority(state, control, command.caller);
    checkOpen(state);
    if (isSpeech(control, command.caller) || tags !== undefined) checkMaySpeak(located, command.caller);
    if (control !== undefined) checkControl(state, control, command.caller);
    const { entry, change } = append(state, command, {
      type: 'control',
      kind: 'system',
      body: control === undefined ? 'control' : describe(control),
      ...aside(loaded, state, command.input, control === undefined ? {} : { control }),
    });
    return {
      changes: [change],
      ...timedMutes(state, change.thread),
      result: {
        message_id: entry.message_id,
        seq: entry.seq,
        created_at: entry.created_at,
        ...settleCalls(change.thread, entry),
      },
    };
  },
};

/** What goes with a control or a presence as with a message. */
function aside(
  loaded: Loaded,
  state: ThreadState,
  { to, in_reply_to, tags }: Aside,
  metadata: Record<string, unknown>,
): Pick<Draft, 'to' | 'in_reply_to' | 'metadata'> {
  checkReply(loaded, in_reply_to);
  if (to !== undefined) checkTarget(state, to);
  return {
    ...(to === undefined || to === 'all' ? {} : { to }),
    ...(in_reply_to === undefined ? {} : { in_reply_to }),
    metadata: { ...metadata, ...(tags === undefined ? {} : { tags }) },
  };
}

/** Even in a closed thread, which may be opened again. */
const endMutes: Rule<EndMutes> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const state = admit(located, command.caller);
    const targets = mutesOver(state.conversation ?? PLAIN, command.now);
    if (targets.length === 0) return { changes: [], result: {} };
    const control: Control = { unmute: { targets } };
    const { change } = append(state, command, {
      type: 'control',
      kind: 'system',
      body: `${describe(control)}: the time is up`,
      metadata: { control },
    });
    return { changes: [change], ...timedMutes(state, change.thread), result: {} };
  },
};

/** Keeps when the next mute of a thread ends, so that it is known after a restart too. */
function timedMutes(before: ThreadState, after: ThreadState): Pick<Decision, 'records' | 'drops'> {
  if (after.conversation?.muted_until === before.conversation?.muted_until) return {};
  const kept = putTimedMutes(after);
  const { workspace_id, thread_id: key } = after;
  return kept === undefined ? { drops: [{ kind: 'mutes', workspace_id, key }] } : { records: [kept] };
}

const assignTask: Rule<AssignTask> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const state = admit(located, command.caller);
    refuseObserver(command.caller.role, 'assign work in');
    checkSpeaking(located, command.caller);
    const { to, role, body, metadata, idempotency_key } = command.input;
    if (to !== undefined) checkTarget(state, to);
    const { entry, change } = append(state, command, {
      type: 'task',
      kind: 'event',
      body,
      ...(to === undefined ? {} : { to }),
      metadata: { ...metadata, event_type: 'task', ...(role === undefined ? {} : { role }) },
      ...(idempotency_key === undefined ? {} : { idempotency_key }),
    });
    const { message_id, seq, created_at } = entry;
    return {
      changes: [change],
      result: { message_id, seq, created_at, ...settleCalls(state, entry) },
    };
  },
};

const reportResult: Rule<ReportResult> = {
  needs({ thread_id, input: { task } }) {
    const seq = seqOfMessageId(task);
    return seq === undefined ? { thread: thread_id } : { thread: thread_id, entry_seq: seq };
  },
  decide({ located, entry: task }, command) {
    const state = admit(located, command.caller);
    refuseObserver(command.caller.role, 'report to');
    checkSpeaking(located, command.caller);
    const { to = 'all', output, metadata, idempotency_key } = command.input;
    const body = command.input.body ?? JSON.stringify(output);
    checkTarget(state, to);
    if (task?.message_id !== command.input.task || task.type !== 'task')
      throw new ParleyError('NOT_FOUND', 'task: names no task of this thread', { field: 'task' });
    const { entry, change } = append(state, command, {
      type: 'result',
      kind: 'event',
      body,
      in_reply_to: task.message_id,
      ...(to !== 'all'
        ? { to }
        : state.participants.includes(task.sender_agent_id)
          ? { to: task.sender_agent_id }
          : {}),
      metadata: { ...metadata, event_type: 'result', ...(output === undefined ? {} : { output }) },
      ...(idempotency_key === undefined ? {} : { idempotency_key }),
    });
    const { message_id, seq, created_at } = entry;
    return { changes: [change], result: { message_id, seq, created_at, ...settleCalls(state, entry) } };
  },
};

const notePresence: Rule<NotePresence> = {
  needs: ({ thread_id, input }) => replyNeeds(thread_id, input.in_reply_to),
  decide(loaded, command) {
    const state = admit(loaded.located, command.caller);
    refuseObserver(command.caller.role, 'write to');
    checkOpen(state);
    const { transition, state: now, tags } = command.input;
    // Presence is one of a few words; tags are words of one's own.
    if (tags !== undefined) checkMaySpeak(loaded.located, command.caller);
    const { entry, change } = append(state, command, {
      type: 'presence',
      kind: 'system',
      body: transition,
      ...aside(loaded, state, command.input, { transition, state: now }),
    });
    return { changes: [change], result: { message_id: entry.message_id, seq: entry.seq } };
  },
};

export const participationRules = {
  control_thread: controlThread,
  end_mutes: endMutes,
  assign_task: assignTask,
  report_result: reportResult,
  note_presence: notePresence,
};

function checkAuthority(state: ThreadState, control: Control, caller: Caller): void {
  // Its schema lets exactly one verb through.
  const verb = Object.keys(control)[0] as ControlVerb;
  if (mayOverride(caller) || CONTROL_AUTHORITY[verb] === 'participant') return;
  // Who opened a side channel asks into it whom it needs.
  if (verb === 'invite' && state.side_of !== undefined && caller.agent_id === state.created_by) return;
  throw new ParleyError(
    'INSUFFICIENT_AUTHORITY',
    `only an operator or orchestrator may use ${verb} in a thread`,
    { role: caller.role, control: verb },
  );
}

/** To call upon others is to speak, and so is to describe oneself or them; the rest of steering has no words. */
function isSpeech(control: Control | undefined, caller: Caller): boolean {
  if (control === undefined) return true;
  if ('invite' in control) return control.invite.profile !== undefined || !mayOverride(caller);
  return 'prod' in control || 'profile' in control;
}

function checkControl(state: ThreadState, control: Control, { agent_id }: Caller): void {
  const conversation = state.conversation ?? PLAIN;
  if ('mute' in control || 'unmute' in control) {
    const [verb, { targets }] =
      'mute' in control ? (['mute', control.mute] as const) : (['unmute', control.unmute] as const);
    for (const target of targets) {
      const known = state.participants.includes(target) || conversation.muted.includes(target);
      if (!known)
        throw invalid(`control.${verb}.targets`, `${verb}: ${target} is not a participant of this thread`);
    }
    if (verb === 'mute' && targets.includes(agent_id))
      throw invalid('control.mute.targets', 'mute: you cannot mute yourself; just keep silent');
  }
  if ('prod' in control) {
    for (const target of control.prod) checkTarget(state, target, 'control.prod');
  }
  if ('leave' in control && !state.participants.includes(agent_id))
    throw invalid('control.leave', 'leave: you take no part in this thread');
  if ('remove' in control) checkTarget(state, control.remove.participant_id, 'control.remove.participant_id');
  if ('profile' in control) checkProfile(state, agent_id, control.profile, 'control.profile');
  if ('invite' in control) {
    const { participant_id, profile } = control.invite;
    if (profile !== undefined) checkProfile(state, participant_id, profile, 'control.invite.profile');
    if (!state.participants.includes(participant_id) && state.participants.length >= LIMITS.participants)
      throw new ParleyError('CONFLICT', `a thread has at most ${LIMITS.participants} participants`);
  }
}

/** What the profiles of one thread may take together: they are part of its state, which every control rewrites. */
const PROFILES_BYTES = 131_072;

function checkProfile(state: ThreadState, agent: string, profile: Profile, field: string): void {
  checkNickname(state, agent, profile.nickname, `${field}.nickname`);
  const all = { ...(state.conversation ?? PLAIN).profiles, [agent]: profile };
  if (Buffer.byteLength(JSON.stringify(all)) > PROFILES_BYTES)
    throw new ParleyError('CONFLICT', `the profiles of a thread have at most ${PROFILES_BYTES} bytes`);
}

/** Refuses a nickname that means somebody else: it must lead to one participant only. */
export function checkNickname(
  state: ThreadState,
  agent: string,
  nickname: string | undefined,
  field: string,
): void {
  if (nickname === undefined) return;
  const wanted = nickname.toLowerCase();
  const { profiles } = state.conversation ?? PLAIN;
  const taken =
    state.participants.some((name) => name !== agent && name.toLowerCase() === wanted) ||
    Object.entries(profiles).some(
      ([name, profile]) => name !== agent && profile.nickname?.toLowerCase() === wanted,
    );
  if (taken || RESERVED_NAMES.includes(wanted))
    throw invalid(field, `${field}: ${nickname} already means somebody else here`);
}

function describe(control: Control): string {
  if ('mute' in control) {
    const { targets, for_seconds } = control.mute;
    return `mute ${targets.join(', ')}${for_seconds === undefined ? '' : ` for ${for_seconds} s`}`;
  }
  if ('unmute' in control) return `unmute ${control.unmute.targets.join(', ')}`;
  if ('pause' in control) return control.pause.on ? 'pause' : 'resume';
  if ('prod' in control) return `prod ${control.prod.join(', ')}`;
  if ('done' in control) return control.done ? 'done' : 'not done after all';
  if ('ttl_seconds' in control) return `ends in ${control.ttl_seconds} s`;
  if ('discussion' in control) return `discussion ${control.discussion.on ? 'on' : 'off'}`;
  if ('invited_auto' in control) return `invited_auto ${control.invited_auto.on ? 'on' : 'off'}`;
  if ('policy' in control) return `policy ${control.policy.mode}`;
  if ('profile' in control) return 'profile';
  if ('leave' in control) return 'leave';
  if ('remove' in control) return `remove ${control.remove.participant_id}`;
  return `invite ${control.invite.participant_id}`;
}
