import {
  type Caller,
  LIMITS,
  type Message,
  type OutputOf,
  ParleyError,
  type ParsedInputOf,
} from '@parley/protocol';

import { toMessage } from '../entry.ts';
import type { LogFollower } from '../log-follower.ts';
import { type Finder, type FoundPassage, isBusy } from '../knowledge/library.ts';
import type { Store } from '../store.ts';
import { admitReader } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';

/** Messages found by their meaning as well as by their words. */
export interface MessageSearch {
  finder: Finder;
  follower: Pick<LogFollower, 'start' | 'caughtUp' | 'again'>;
  /** How many of the newest entries of a workspace it knows. */
  keep: number;
}

/** A message that was found, and the part of it that was. */
export interface MessageHit {
  message: Message;
  snippet: string;
  /** What was found of its body. */
  part: { start: number; text: string };
  /** How near it comes to the question, as `FoundPassage` has it. */
  fit: number;
}

type Missing = OutputOf<'search_messages'>['missing'];
type Asked = ParsedInputOf<'search_messages'>;

const FRESH_MS = 1_000;
const WITHIN_MS = 4_000;
/** A long message may be found by several of its parts. */
const PARTS = 3;
const SNIPPET = 160;
/** So much of a message that was found by its words alone is shown to who writes an answer. */
const LONGEST_PART = 2_000;
const ALL_THE_WORDS = 1;

interface FoundMessages {
  hits: MessageHit[];
  missing: Missing;
}

/** What a search by words alone finds by meaning. */
const NOTHING: FoundMessages = { hits: [], missing: [] };

/** How a message is named in the index. */
export function indexName({ thread_id, seq }: { thread_id: string; seq: number }): string {
  return `${thread_id} ${seq}`;
}

/** What messages are looked for in. */
interface SearchPorts {
  store: Store;
  messageSearch: MessageSearch | undefined;
}

/** Messages that the caller may read, the best first, and what the answer lacks. */
export async function findMessages(
  deps: SearchPorts,
  caller: Caller,
  asked: Asked,
  withinMs = WITHIN_MS,
): Promise<FoundMessages> {
  const { query, thread_id, mode } = asked;
  const limit = Math.min(asked.limit, LIMITS.page_default);
  const [near, words] = await Promise.all([
    mode === 'hybrid' ? findByMeaning(deps, caller, asked, withinMs) : NOTHING,
    deps.store.search({
      workspace_id: caller.workspace_id,
      participant: mayOverride(caller) ? undefined : caller.agent_id,
      thread_id,
      text: query,
      limit,
    }),
  ]);
  const hits = [...near.hits];
  const found = new Set(hits.map(({ message }) => message.message_id));
  // What has all the words is never left out, be it older than what the index of meanings knows.
  for (const { entry, snippet } of words.hits)
    if (!found.has(entry.message_id)) {
      const part = { start: 0, text: entry.body.slice(0, LONGEST_PART).toWellFormed() };
      hits.push({ message: toMessage(entry), snippet, part, fit: ALL_THE_WORDS });
    }
  return { hits: hits.slice(0, limit), missing: [...new Set([...near.missing, ...words.lacks])] };
}

/** The messages that say best what is asked for, among those the caller may read now, and what the answer lacks. */
async function findByMeaning(
  deps: SearchPorts,
  caller: Caller,
  { query, thread_id, limit }: Asked,
  withinMs: number,
): Promise<FoundMessages> {
  const { messageSearch, store } = deps;
  if (messageSearch === undefined) return { hits: [], missing: ['meaning'] };
  const { finder, follower, keep } = messageSearch;
  const { workspace_id, agent_id } = caller;
  // The index begins with the first who asks for it.
  void follower.start();
  const missing: Missing = [];
  if ((await store.position(workspace_id)) > keep) missing.push('older');
  if (!(await follower.caughtUp(workspace_id, Math.min(FRESH_MS, withinMs / 4)))) missing.push('changes');
  const groups = await readable();
  const asked = { workspace_id, text: query, tags: [], limit: Math.min(limit, LIMITS.page_default) * PARTS };
  try {
    const found = await finder.find(groups === undefined ? asked : { ...asked, groups }, withinMs);
    const best = new Map(found.passages.toReversed().map((one) => [one.document_id, one]));
    const names = [...new Set(found.passages.map(({ document_id }) => document_id))];
    const hits = await Promise.all(names.map((name) => look(name, best.get(name))));
    return { hits: hits.flat(), missing: [...missing, ...found.lacks] };
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'UNAVAILABLE') throw error;
    if (!isBusy(error)) follower.again();
    return { hits: [], missing: [...missing, 'meaning'] };
  }

  /** The threads to look through; undefined for all of the workspace. */
  async function readable(): Promise<string[] | undefined> {
    if (thread_id !== undefined) return [thread_id];
    return mayOverride(caller) ? undefined : store.readable({ workspace_id, participant: agent_id });
  }

  /** The message as it stands in the log, if the caller may read it: the index is believed in nothing. */
  async function look(name: string, passage: FoundPassage | undefined): Promise<MessageHit[]> {
    const [of = '', seq] = name.split(' ');
    const place = { workspace_id, thread_id: of, after: Number(seq) - 1, limit: 1 };
    const { located, entries } = await store.page({ ...place, max_bytes: LIMITS.page_bytes });
    try {
      admitReader(located, caller);
    } catch {
      return [];
    }
    const [entry] = entries;
    if (entry === undefined || passage === undefined) return [];
    const { start, text, fit } = passage;
    return [{ message: toMessage(entry), snippet: snippetOf(text), part: { start, text }, fit }];
  }
}

function snippetOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > SNIPPET ? `${line.slice(0, SNIPPET).toWellFormed()}…` : line;
}
