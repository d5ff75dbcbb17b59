import type { Control } from '@parley/protocol';

import { type Entry, factsOf } from '../entry.ts';
import type { ThreadState } from '../threads/state.ts';
import { PLAIN, profileOf } from './conversation.ts';
import { mentions } from './mentions.ts';

/** The ways in which an entry can be addressed to somebody. */
type Way = 'prodded' | 'invited' | 'task' | 'targeted' | 'named' | 'mentioned' | 'invited_auto' | 'addressed';

/** Whom an entry means, by its own words; whether they may be called now is another question. */
export interface Addressed {
  ways: ReadonlyMap<string, Way>;
  /** Mentioned by an agent where that calls nobody. */
  unheard: readonly string[];
  /** Named, and no participants. */
  unknown: readonly string[];
}

/** What is known of a message beside its words. */
export interface Setting {
  /** It is a post: where only two take part it is for the other. */
  isPost?: boolean;
  /** Who wrote the message that it answers. */
  repliedTo?: string | undefined;
}

/** Whom an entry addresses. */
export function addressed(state: ThreadState, entry: Entry, setting: Setting = {}): Addressed {
  if (entry.type === 'control')
    return known(state, controlWays(factsOf<{ control: Control }>(entry).control));
  if (entry.type === 'task') return known(state, taskWays(state, entry));
  if (entry.to !== undefined && entry.type === 'result') return known(state, [[entry.to, 'targeted']]);
  return entry.type === 'message' ? messageWays(state, entry, setting) : NOBODY;
}

type Ways = readonly (readonly [string, Way])[];

const NOBODY: Addressed = { ways: new Map(), unheard: [], unknown: [] };

function messageWays(state: ThreadState, entry: Entry, { isPost, repliedTo }: Setting): Addressed {
  const { to, sender_agent_id: sender } = entry;
  const ways: [string, Way][] = namedIn(entry).map((name) => [name, 'named']);
  if (to !== undefined) return known(state, [...ways, [to, 'targeted']]);
  const { found, unknown } = mentions(state, entry.body);
  const others = found.filter((name) => name !== sender);
  const partner = isPost === true ? partnerOf(state, sender, repliedTo) : undefined;
  const isHeard = (name: string): boolean => name === partner || mayMention(state, entry);
  for (const name of others) if (isHeard(name)) ways.push([name, 'mentioned']);
  const unheard = others.filter((name) => !isHeard(name));
  const said = known(state, ways, unknown);
  if (said.ways.size > 0 || unheard.length > 0) return { ...said, unheard };
  if (entry.human === true && state.conversation?.invited_auto === true) {
    const invited = state.participants.filter((name) => name !== sender && name !== state.created_by);
    return { ...said, ways: new Map(invited.map((name) => [name, 'invited_auto'])) };
  }
  return partner === undefined ? said : { ...said, ways: new Map([[partner, 'addressed']]) };
}

function mayMention({ conversation = PLAIN }: ThreadState, { human }: Entry): boolean {
  const { on, allow_agent_mentions } = conversation.discussion;
  return human === true || (on && allow_agent_mentions);
}

/** Of two the other one; for somebody from outside the one who is answered. */
function partnerOf(
  { participants }: ThreadState,
  sender: string,
  repliedTo: string | undefined,
): string | undefined {
  if (participants.length !== 2) return undefined;
  if (participants.includes(sender)) return participants.find((name) => name !== sender);
  return participants.find((name) => name === repliedTo);
}

/** Whom an event of a workflow names as the one to act. */
function namedIn({ kind, metadata, sender_agent_id }: Entry): string[] {
  if (kind !== 'event' || metadata === undefined) return [];
  const fields = [...NAMING, ...(metadata['event_type'] === 'thread_escalated' ? ['to'] : [])];
  const names = fields.map((field) => metadata[field]);
  return names.filter(
    (name): name is string => typeof name === 'string' && name !== '' && name !== sender_agent_id,
  );
}

const NAMING = ['reviewer', 'assignee'];

function controlWays(control: Control | undefined): Ways {
  if (control === undefined) return [];
  if ('prod' in control) return control.prod.map((name) => [name, 'prodded']);
  return 'invite' in control ? [[control.invite.participant_id, 'invited']] : [];
}

function taskWays(state: ThreadState, { to, metadata }: Entry): Ways {
  if (to !== undefined) return [[to, 'task']];
  const role = metadata?.['role'];
  if (typeof role !== 'string') return [];
  const conversation = state.conversation ?? PLAIN;
  const able = state.participants.filter((name) => profileOf(conversation, name)?.roles?.includes(role));
  return able.map((name) => [name, 'task']);
}

/** Tells participants from names that nobody here has. */
function known({ participants }: ThreadState, ways: Ways, strangers: readonly string[] = []): Addressed {
  if (ways.length === 0) return { ...NOBODY, unknown: strangers };
  const isHere = ([name]: readonly [string, Way]): boolean => participants.includes(name);
  const away = ways.filter((way) => !isHere(way)).map(([name]) => name.slice(0, LONGEST_NAME));
  return {
    ways: new Map(ways.filter(isHere)),
    unheard: [],
    unknown: away.length === 0 ? strangers : [...new Set([...away, ...strangers])],
  };
}

const LONGEST_NAME = 128;
