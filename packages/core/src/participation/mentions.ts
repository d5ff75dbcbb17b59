import type { ThreadState } from '../threads/state.ts';
import { PLAIN } from './conversation.ts';

const CODE = /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`/g;

/** An @ that starts a word, and the word: what stands before it must not belong to an address or a path. */
const MENTION = /(?<![\p{L}\p{N}\p{M}_@./+:-])@([\p{L}\p{N}][\p{L}\p{N}\p{M}._:@-]*)/gu;

/**
 * The participants a text calls by @id or @nickname, outside code. A name counts only as a whole word, in any case of
 * its letters; look-alike letters of another script are another name.
 */
export function mentions(state: ThreadState, body: string): string[] {
  if (!body.includes('@')) return [];
  const named = namesOf(state);
  const found = new Set<string>();
  for (const [, word = ''] of body.replaceAll(CODE, ' ').matchAll(MENTION)) {
    const agent = named.get(word.toLowerCase()) ?? named.get(word.replace(/[._:@-]+$/u, '').toLowerCase());
    if (agent !== undefined) found.add(agent);
  }
  return [...found];
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
