import { type Caller, LIMITS, type OutputOf, ParleyError, type ParsedInputOf } from '@parley/protocol';

import { toMessage } from '../entry.ts';
import type { LogFollower } from '../log-follower.ts';
import { type Finder, isBusy } from '../knowledge/library.ts';
import type { Deps } from '../operation.ts';
import { admitReader } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';

/** Messages found by their meaning as well as by their words. */
export interface MessageSearch {
  finder: Finder;
  follower: Pick<LogFollower, 'start' | 'caughtUp' | 'again'>;
  /** How many of the newest entries of the log it knows. */
  keep: number;
}

type Hits = OutputOf<'search_messages'>['hits'];
type Missing = OutputOf<'search_messages'>['missing'];
type Asked = ParsedInputOf<'search_messages'>;

const FRESH_MS = 1_000;
const WITHIN_MS = 4_000;
/** A long message may be found by several of its parts. */
const PARTS = 3;
const SNIPPET = 160;

interface Nearest {
  hits: Hits;
  missing: Missing;
}

/** What a search by words alone finds by meaning. */
export const NOTHING: Nearest = { hits: [], missing: [] };

/** How a message is named in the index. */
export function indexName({ thread_id, seq }: { thread_id: string; seq: number }): string {
  return `${thread_id} ${seq}`;
}

/** The messages that say best what is asked for, among those the caller may read now, and what the answer lacks. */
export async function findByMeaning(
  deps: Deps,
  caller: Caller,
  { query, thread_id, limit }: Asked,
): Promise<Nearest> {
  const { messageSearch, store } = deps;
  if (messageSearch === undefined) return { hits: [], missing: ['meaning'] };
  const { finder, follower, keep } = messageSearch;
  const { workspace_id, agent_id } = caller;
  // The index begins with the first who asks for it.
  follower.start();
  const missing: Missing = [];
  if ((await store.position()) > keep) missing.push('older');
  if (!(await follower.caughtUp(FRESH_MS))) missing.push('changes');
  const groups = await readable();
  const asked = { workspace_id, text: query, tags: [], limit: Math.min(limit, LIMITS.page_default) * PARTS };
  try {
    const found = await finder.find(groups === undefined ? asked : { ...asked, groups }, WITHIN_MS);
    const best = new Map(found.passages.toReversed().map(({ document_id, text }) => [document_id, text]));
    const names = [...new Set(found.passages.map(({ document_id }) => document_id))];
    const hits = await Promise.all(names.map((name) => look(name, best.get(name) ?? '')));
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
  async function look(name: string, text: string): Promise<Hits> {
    const [of = '', seq] = name.split(' ');
    const place = { workspace_id, thread_id: of, after: Number(seq) - 1, limit: 1 };
    const { located, entries } = await store.page({ ...place, max_bytes: LIMITS.page_bytes });
    try {
      admitReader(located, caller);
    } catch {
      return [];
    }
    const [entry] = entries;
    return entry === undefined ? [] : [{ message: toMessage(entry), snippet: snippetOf(text) }];
  }
}

function snippetOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > SNIPPET ? `${line.slice(0, SNIPPET).toWellFormed()}…` : line;
}
