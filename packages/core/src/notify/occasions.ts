import {
  type AgentView,
  type Ask,
  type AskVerdict,
  type NoticeKind,
  plainWords,
  showUnseen,
} from '@parley/protocol';

import { type Entry, factsOf } from '../entry.ts';
import { mentions } from '../participation/mentions.ts';
import type { ThreadState } from '../threads/state.ts';
import type { NoticeSubject } from './notice.ts';

/** Something that people may want to be told, in the words they read. */
export interface Occasion {
  kind: NoticeKind;
  /** Tells it from all others, so that nobody is told twice. */
  key: string;
  title: string;
  body: string;
  path: string;
  tag: string;
  urgency: 'normal' | 'high';
  subject: NoticeSubject;
  /** Only these people; undefined for all of the workspace. */
  people?: readonly string[];
}

/** One thread calls a person once in this time, however often it does. */
const CALLS_MS = 60_000;

const TITLE_CHARS = 120;
const BODY_CHARS = 400;

/** What an entry of the log gives people to know; undefined for most. */
export function occasionOf(entry: Entry, thread: ThreadState | undefined): Occasion | undefined {
  const { type } = entry;
  if (type === 'ask.raised') return raised(entry);
  if (type === 'ask.answered' || type === 'ask.resolved') return settled(entry);
  if (thread === undefined) return undefined;
  if (type === 'thread.status') return moved(entry, thread);
  return type === 'message' || type === 'task' ? called(entry, thread) : undefined;
}

function raised(entry: Entry): Occasion {
  const { sender_agent_id } = entry;
  const { ask_id, ask } = factsOf<{ ask_id: string; ask: Ask }>(entry);
  const where = ask.cwd === undefined ? '' : ` · ${ask.cwd}`;
  return {
    kind: 'ask',
    key: `ask:${ask_id}`,
    title: line(`${sender_agent_id}${where}`, TITLE_CHARS),
    body: text(ask.command === undefined ? ask.prompt : `${ask.command}\n${ask.prompt}`),
    path: `/asks/${ask_id}`,
    tag: ask_id,
    urgency: ask.risk === 'high' || ask.kind === 'approval' ? 'high' : 'normal',
    subject: { ask_id, agent_id: sender_agent_id },
  };
}

function settled(entry: Entry): Occasion | undefined {
  const { sender_agent_id } = entry;
  const { ask_id, verdict } = factsOf<{ ask_id: string; verdict?: AskVerdict }>(entry);
  if (verdict === undefined) return undefined;
  const { decision, by, reason } = verdict;
  return {
    kind: 'resolved',
    key: `resolved:${ask_id}`,
    title: line(`${capital(decision)} by ${by}`, TITLE_CHARS),
    body: text(reason ?? `A request of ${sender_agent_id === by ? 'an agent' : sender_agent_id} is settled.`),
    path: `/asks/${ask_id}`,
    tag: ask_id,
    urgency: 'normal',
    subject: { ask_id },
  };
}

function moved(entry: Entry, thread: ThreadState): Occasion | undefined {
  const { seq, sender_agent_id } = entry;
  const { to, reason } = factsOf<{ to: string; reason: string }>(entry);
  if (to !== 'blocked' && to !== 'resolved') return undefined;
  const { thread_id, title } = thread;
  return {
    kind: to === 'blocked' ? 'trouble' : 'finished',
    key: `thread:${thread_id}:${seq}`,
    title: line(`${to === 'blocked' ? 'Blocked' : 'Resolved'}: ${title}`, TITLE_CHARS),
    body: text(`${sender_agent_id}: ${reason}`),
    path: `/t/${thread_id}`,
    tag: thread_id,
    urgency: 'normal',
    subject: { thread_id },
  };
}

function called(entry: Entry, thread: ThreadState): Occasion | undefined {
  const { sender_agent_id, to, body, seq, created_at } = entry;
  const named = to === undefined ? mentions(thread, body).found : [to];
  const people = [...new Set([...named, ...(entry.called ?? [])])].filter((name) => name !== sender_agent_id);
  if (people.length === 0 || thread.journal_of !== undefined) return undefined;
  const { thread_id, title } = thread;
  return {
    kind: 'mention',
    key: `mention:${thread_id}:${Math.floor(Date.parse(created_at) / CALLS_MS)}`,
    title: line(`${sender_agent_id} in ${title}`, TITLE_CHARS),
    body: text(plainWords(body, 'lines')),
    path: `/t/${thread_id}/${seq}`,
    tag: thread_id,
    urgency: 'normal',
    subject: { thread_id, seq },
    people,
  };
}

/** What an agent that does not get on gives people to know. */
export function troubleOf({ agent_id, state, reason, since }: AgentView): Occasion {
  return {
    kind: 'trouble',
    key: `trouble:${agent_id}:${since}`,
    title: line(`${agent_id}: ${state}`, TITLE_CHARS),
    body: text(reason),
    path: `/agents/${encodeURIComponent(agent_id)}`,
    tag: `agent-${agent_id}`,
    urgency: 'normal',
    subject: { agent_id },
  };
}

function line(words: string, most: number): string {
  return cut(showUnseen(words).replaceAll(/\s+/g, ' ').trim(), most);
}

function text(words: string): string {
  return cut(showUnseen(words).trim(), BODY_CHARS);
}

function cut(words: string, most: number): string {
  return words.length <= most ? words : `${words.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
