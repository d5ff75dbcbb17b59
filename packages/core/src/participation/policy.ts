import type { Control } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import type { ThreadState } from '../threads/state.ts';
import { hasEnded, PLAIN, profileOf } from './conversation.ts';
import { mentions } from './mentions.ts';

/** How many participants a thread may have before its agents hold back, unless the thread says otherwise. */
const SMALL_THREAD = 5;

/** Every rule that can decide whether a participant should respond, and what it tells the one who asked. */
export const POLICY_RULES = {
  own_event: 'you said it yourself',
  not_a_participant: 'you take no part in this thread',
  closed: 'the thread is closed',
  ended: 'the conversation was declared done, or its time is up',
  muted: 'you are muted: keep listening',
  paused: 'the thread is paused: only people speak',
  not_conversation: 'this is no message to anybody',
  prodded: 'you were prodded',
  invited: 'you were invited',
  task: 'the task is for you or your role',
  targeted: 'it is addressed to you',
  targeted_elsewhere: 'it is addressed to somebody else',
  mentioned: 'you were mentioned',
  mentioned_without_discussion: 'an agent mentioned you, and discussion among agents is off here',
  others_mentioned: 'it calls others by name',
  invited_auto: 'a person spoke to all, and the invited are asked to answer here',
  small_thread: 'the thread is small: respond if you have something to add',
  large_thread: 'the thread is large: respond only when you are called',
} as const;

type PolicyRule = keyof typeof POLICY_RULES;

export interface Advice {
  respond: boolean;
  rule: PolicyRule;
}

/** Should this participant respond to this entry? The first rule that applies decides. */
export function advise(state: ThreadState, entry: Entry, agent: string, human: boolean, now: number): Advice {
  const conversation = state.conversation ?? PLAIN;
  if (entry.sender_agent_id === agent) return no('own_event');
  if (!human && !state.participants.includes(agent)) return no('not_a_participant');
  if (state.status === 'closed') return no('closed');
  if (hasEnded(conversation, now)) return no('ended');
  if (conversation.muted.includes(agent)) return no('muted');
  if (conversation.paused && !human) return no('paused');
  const called = callOn(state, entry, agent, mentionsIn(state, entry));
  if (called !== undefined) return called;
  if (conversation.prodded.includes(agent)) return yes('prodded');
  const { mode, threshold = SMALL_THREAD } = conversation.policy;
  const small = mode === 'permissive' || (mode === 'auto' && state.participants.length <= threshold);
  return small ? yes('small_thread') : no('large_thread');
}

/** Whom an entry calls by itself, whatever they then make of it: those are the ones to wake. */
export function invokedBy(state: ThreadState, entry: Entry): string[] {
  const conversation = state.conversation ?? PLAIN;
  if (conversation.paused || (conversation !== PLAIN && hasEnded(conversation, Date.parse(entry.created_at))))
    return [];
  // Read once for all of them: a thread may have a thousand participants.
  const named = mentionsIn(state, entry);
  return state.participants.filter(
    (agent) =>
      agent !== entry.sender_agent_id &&
      !conversation.muted.includes(agent) &&
      callOn(state, entry, agent, named)?.respond === true,
  );
}

function mentionsIn(state: ThreadState, { type, to, body }: Entry): string[] {
  return type === 'message' && to === undefined ? mentions(state, body) : [];
}

/** What an entry itself asks of a participant; undefined when it speaks to everybody alike. */
function callOn(
  state: ThreadState,
  entry: Entry,
  agent: string,
  named: readonly string[],
): Advice | undefined {
  const conversation = state.conversation ?? PLAIN;
  if (entry.type === 'control') return controlCall(entry.metadata?.['control'] as Control, agent);
  if (entry.type === 'task') return isAssigned(state, entry, agent) ? yes('task') : no('targeted_elsewhere');
  if (entry.type !== 'message' && entry.type !== 'result') return no('not_conversation');
  if (entry.to !== undefined) return entry.to === agent ? yes('targeted') : no('targeted_elsewhere');
  if (entry.type === 'result') return no('not_conversation');
  if (named.includes(agent)) {
    const { on, allow_agent_mentions } = conversation.discussion;
    return entry.human === true || (on && allow_agent_mentions)
      ? yes('mentioned')
      : no('mentioned_without_discussion');
  }
  if (named.length > 0) return no('others_mentioned');
  if (entry.human === true && conversation.invited_auto && agent !== state.created_by)
    return yes('invited_auto');
  return undefined;
}

function controlCall(control: Control | undefined, agent: string): Advice {
  if (control !== undefined && 'prod' in control && control.prod.includes(agent)) return yes('prodded');
  if (control !== undefined && 'invite' in control && control.invite.participant_id === agent)
    return yes('invited');
  return no('not_conversation');
}

function isAssigned(state: ThreadState, entry: Entry, agent: string): boolean {
  if (entry.to !== undefined) return entry.to === agent;
  const role = entry.metadata?.['role'];
  const roles = profileOf(state.conversation ?? PLAIN, agent)?.roles ?? [];
  return typeof role === 'string' && roles.includes(role);
}

function yes(rule: PolicyRule): Advice {
  return { respond: true, rule };
}

function no(rule: PolicyRule): Advice {
  return { respond: false, rule };
}
