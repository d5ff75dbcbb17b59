import type { ThreadState } from '../threads/state.ts';
import { PLAIN } from './conversation.ts';

/** Fenced blocks, also one without an end, and spans between equally long runs of backticks on one line. */
const CODE = /(`{3,}|~{3,})[\s\S]*?(?:\1|$)|(?<!`)(`{1,2})(?!`).*?(?<!`)\2(?!`)/g;

/** An @ that starts a word, and the word: what stands before it must not belong to an address or a path. */
const MENTION = /(?<![\p{L}\p{N}\p{M}_@./+:-])@([\p{L}\p{N}][\p{L}\p{N}\p{M}._:@-]*)/gu;

/** After the word, a slash and more is a path: the scope of a package, not a person. */
const PATH = /^\/[\p{L}\p{N}]/u;

/** What a text says with an @. */
export interface Mentions {
  /** The participants it means. */
  found: string[];
  /** The first few words that mean nobody here. */
  unknown: string[];
}

const NONE: Mentions = { found: [], unknown: [] };

/**
 * The participants a text calls by @id or @nickname, outside code. A name counts only as a whole word, in any case of
 * its letters; look-alike letters of another script are another name.
 */
export function mentions(state: ThreadState, body: string): Mentions {
  if (!body.includes('@')) return NONE;
  const named = namesOf(state);
  const ids = new Set(state.participants);
  const found = new Set<string>();
  const unknown = new Set<string>();
  const text = body.replaceAll(CODE, ' ');
  for (const { 0: whole, 1: word = '', index } of text.matchAll(MENTION)) {
    const end = index + whole.length;
    if (word.length > LONGEST_WORD || PATH.test(text.slice(end, end + 3))) continue;
    const bare = word.replace(/[._:@-]+$/u, '');
    const agent = find(ids, named, word) ?? find(ids, named, bare);
    if (agent !== undefined) found.add(agent);
    else if (unknown.size < MOST_UNKNOWN && bare.length <= LONGEST_NAME) unknown.add(bare);
  }
  return { found: [...found], unknown: [...unknown] };
}

/** A name may be this long, and as many marks may follow it. */
const LONGEST_NAME = 128;
const LONGEST_WORD = 2 * LONGEST_NAME;
const MOST_UNKNOWN = 8;

/** An id as it is written before any that differs in the case of its letters. */
function find(
  ids: ReadonlySet<string>,
  named: ReadonlyMap<string, string>,
  word: string,
): string | undefined {
  return ids.has(word) ? word : named.get(word.toLowerCase());
}

function namesOf({ participants, conversation = PLAIN }: ThreadState): Map<string, string> {
  const named = new Map<string, string>();
  for (const [agent, { nickname }] of Object.entries(conversation.profiles)) {
    if (nickname !== undefined) named.set(nickname.toLowerCase(), agent);
  }
  // An id is never overruled by somebody else's nickname.
  for (const agent of participants) named.set(agent.toLowerCase(), agent);
  return named;
}
