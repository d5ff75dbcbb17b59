import type { Entry } from '../entry.ts';
import type { ThreadState } from '../threads/state.ts';
import { addressed } from './addressing.ts';
import { hasEnded, PLAIN } from './conversation.ts';
import type { Presence } from './presence.ts';

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
  named: 'the event names you',
  addressed: 'it is for you: there are only two here, or it answers you',
  mentioned: 'you were mentioned',
  mentioned_without_discussion: 'an agent mentioned you, and discussion among agents is off here',
  others_mentioned: 'it calls others by name',
  invited_auto: 'a person spoke to all, and the invited are asked to answer here',
  small_thread: 'the thread is small: respond if you have something to add',
  others_typing: 'others are at an answer already: wait, then ask again',
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
  const called = callOn(state, entry, agent);
  if (called !== undefined) return called;
  if (conversation.prodded.includes(agent)) return yes('prodded');
  const { mode, threshold = SMALL_THREAD } = conversation.policy;
  const small = mode === 'permissive' || (mode === 'auto' && state.participants.length <= threshold);
  return small ? yes('small_thread') : no('large_thread');
}

/**
 * Who was at an answer before this participant: typing or thinking since earlier than it, if it is at one itself. So of
 * two that began together one goes on.
 */
export function answering(present: ReadonlyMap<string, Presence>, agent: string): string[] {
  const isAt = ({ state }: Presence): boolean => state === 'typing' || state === 'thinking';
  const own = present.get(agent);
  const since = own !== undefined && isAt(own) ? own.since : Infinity;
  return [...present.values()]
    .filter((other) => other.agent_id !== agent && isAt(other))
    .filter((other) => other.since < since || (other.since === since && other.agent_id < agent))
    .map(({ agent_id }) => agent_id);
}

/** What an entry itself asks of a participant; undefined when it speaks to everybody alike. */
function callOn(state: ThreadState, entry: Entry, agent: string): Advice | undefined {
  const { type, to } = entry;
  const { ways, unheard } = addressed(state, entry);
  const way = ways.get(agent) ?? (entry.called?.includes(agent) === true ? 'addressed' : undefined);
  if (way !== undefined) return yes(way);
  if (unheard.includes(agent)) return no('mentioned_without_discussion');
  if (type === 'task') return no('targeted_elsewhere');
  if (type !== 'message' && (type !== 'result' || to === undefined)) return no('not_conversation');
  const found = [...ways.values()];
  if (to !== undefined || found.includes('named')) return no('targeted_elsewhere');
  return found.includes('mentioned') || unheard.length > 0 ? no('others_mentioned') : undefined;
}

function yes(rule: PolicyRule): Advice {
  return { respond: true, rule };
}

function no(rule: PolicyRule): Advice {
  return { respond: false, rule };
}
