import type { NotCalled } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import type { ThreadState } from '../threads/state.ts';
import { addressed, type Setting } from './addressing.ts';
import { hasEnded, PLAIN } from './conversation.ts';

/** Why somebody is not called, and what the one who spoke can do about it. */
const HINTS = {
  yourself: () => 'you cannot call yourself',
  not_a_participant: (agent, names) => `${agent} takes no part in this thread; those who do: ${names}`,
  muted: (agent) => `${agent} is muted here until a person or an orchestrator unmutes it`,
  paused: () => 'the thread is paused: nobody is called until it is resumed',
  ended: () => 'the conversation was declared done, or its time is up: nobody is called any more',
  discussion_off: (agent) =>
    `@${agent} by an agent calls only while discussion is on; address it with \`to\``,
  no_such_role: (agent) => `${agent} has not published the role; address one with \`to\``,
  not_addressed: () => 'it is addressed to nobody, and several could be meant; address one with `to`',
} as const satisfies Record<string, (agent: string, names: string) => string>;

type WhyNot = keyof typeof HINTS;

/** Whom an entry calls, and who of those it might have meant is not called. */
export interface Calls {
  called: string[];
  not_called: { agent: string; why: WhyNot }[];
}

/** So many are told of who were not called; the rest of a crowd is told apart in the last hint. */
const MOST = 16;

/** Whom an entry calls when it is written: those are the ones to wake. */
export function callsOf(state: ThreadState, entry: Entry, setting?: Setting): Calls {
  const { ways, unheard, unknown } = addressed(state, entry, setting);
  const { sender_agent_id: sender } = entry;
  const called: string[] = [];
  const not_called: Calls['not_called'] = [];
  const meant = ways.size === 0 ? [] : state.participants.filter((name) => ways.has(name));
  for (const agent of meant) {
    const why = agent === sender ? 'yourself' : silenceOf(state, entry, agent);
    if (why === undefined) called.push(agent);
    else not_called.push({ agent, why });
  }
  for (const agent of unheard) not_called.push({ agent, why: 'discussion_off' });
  for (const agent of unknown) not_called.push({ agent, why: 'not_a_participant' });
  const isForAll = meant.length === 0 && unheard.length === 0;
  const why = entry.type === 'message' ? 'not_addressed' : entry.type === 'task' ? 'no_such_role' : undefined;
  if (isForAll && why !== undefined)
    for (const agent of state.participants) if (agent !== sender) not_called.push({ agent, why });
  return { called, not_called };
}

/** Whom an entry calls, as it was decided when it was written; what an older hub wrote goes by its words. */
export function invokedBy(state: ThreadState, entry: Entry): string[] {
  return entry.called ?? (entry.not_called === undefined ? callsOf(state, entry).called : []);
}

/** Whom an entry did not call, as it was decided, in the words that its sender was told. */
export function passedOverBy(state: ThreadState, entry: Entry): NotCalled[] {
  // What stands there was decided by the rule below.
  if (entry.not_called !== undefined) return reported(state, entry.not_called as Calls['not_called']);
  return entry.called === undefined ? reported(state, callsOf(state, entry).not_called) : [];
}

/** What the answer to a post says of calls. */
export interface CallsTold {
  called: string[];
  not_called: NotCalled[];
  /** The same as `called`, left out where it is empty. */
  invokes?: string[];
}

/** Decides whom a new entry calls, puts that on it, and says it in the words of the answer. */
export function settleCalls(state: ThreadState, entry: Entry, setting?: Setting): CallsTold {
  const { called, not_called } = callsOf(state, entry, setting);
  // What follows from there being no name at all need not be kept.
  const kept = not_called.filter(({ why }) => why !== 'not_addressed' && why !== 'no_such_role');
  if (called.length > 0) entry.called = called;
  if (kept.length > 0) entry.not_called = kept.slice(0, MOST);
  return {
    called,
    not_called: reported(state, not_called),
    ...(called.length === 0 ? {} : { invokes: called }),
  };
}

/** What nobody is called by says of calls. */
export const CALLS_NOBODY: CallsTold = { called: [], not_called: [] };

function silenceOf({ conversation = PLAIN }: ThreadState, entry: Entry, agent: string): WhyNot | undefined {
  if (conversation.paused) return 'paused';
  if (conversation !== PLAIN && hasEnded(conversation, Date.parse(entry.created_at))) return 'ended';
  return conversation.muted.includes(agent) ? 'muted' : undefined;
}

function reported(state: ThreadState, not_called: Calls['not_called']): NotCalled[] {
  const more = not_called.length - MOST;
  const names = namesIn(state);
  return not_called.slice(0, MOST).map(({ agent, why }, i) => {
    const hint = HINTS[why](agent, names);
    const rest = more > 0 && i === MOST - 1 ? `; ${more} more were not called` : '';
    return { agent, why, hint: hint + rest };
  });
}

/** The names that exist, as a refusal or a hint lists them. */
export function namesIn({ participants }: ThreadState): string {
  const more = participants.length - MOST;
  return participants.slice(0, MOST).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
