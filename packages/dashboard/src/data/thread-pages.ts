import { folderOf, type InputOf, type OutputOf } from '@parley/protocol';
import { signal } from '@preact/signals';

import { createSoon } from '../soon.ts';
import { call } from './api.ts';
import { agentById, conversations, previews, threads, type ThreadRow } from './state.ts';

/** What a list of threads is narrowed to, as the address says it. */
export interface ThreadWish {
  /** Open, unread, blocked or done. */
  which: string;
  text: string;
  agent: string;
  folder: string;
}

export type ThreadCounts = NonNullable<OutputOf<'list_threads'>['counts']>;

/** How many threads of each kind there are, in the hub's own count. */
export const threadCounts = signal<ThreadCounts | undefined>(undefined);

const PAGE = 50;
const WHICH: Record<string, Partial<InputOf<'list_threads'>>> = {
  '': { group: 'open' },
  unread: { unread: true },
  blocked: { group: 'blocked' },
  resolved: { group: 'done' },
};

/** How far a list was fetched. */
interface Reach {
  /** Where the next page begins; null at the end. */
  next: string | null | undefined;
  counts?: ThreadCounts;
  busy: boolean;
  failed: boolean;
}

const reaches = signal<ReadonlyMap<string, Reach>>(new Map());

/** Moves when all that was fetched is old: lists begin anew. */
export const listsBegun = signal(0);

/** Forgets how far lists were fetched. */
export function beginLists(): void {
  reaches.value = new Map();
  listsBegun.value++;
}

/** How a list stands: its rows as far as they were fetched, in their order, what is counted, and whether there is more. */
export function threadPage(wish: ThreadWish): { rows: ThreadRow[]; reach: Reach | undefined } {
  const reach = reaches.value.get(keyOf(wish));
  if (reach?.next === undefined) return { rows: [], reach };
  // Whatever is known from before the end of the last page stands in the list, also what has just come in.
  const [end = ''] = reach.next?.split('~') ?? [];
  return { rows: conversations.value.filter((one) => one.updated_at >= end && isWanted(one, wish)), reach };
}

/** Fetches the next page of a list, or the first. */
export async function fetchPage(wish: ThreadWish, fresh = false): Promise<void> {
  const key = keyOf(wish);
  const before = fresh ? undefined : reaches.value.get(key);
  if (before?.busy === true || before?.next === null) return;
  const put = (reach: Reach): void => {
    reaches.value = new Map(reaches.value).set(key, reach);
  };
  const { counts: counted } = before ?? {};
  const kept = counted === undefined ? {} : { counts: counted };
  put({ next: before?.next, ...kept, busy: true, failed: false });
  try {
    const {
      threads: found,
      next_before,
      counts,
    } = await call('list_threads', {
      ...inputOf(wish),
      limit: PAGE,
      counts: true,
      ...(typeof before?.next === 'string' ? { before: before.next } : {}),
    });
    await keep(found);
    put({ next: next_before, ...(counts === undefined ? {} : { counts }), busy: false, failed: false });
  } catch {
    put({ next: before?.next, ...kept, busy: false, failed: true });
  }
}

/** Threads whose titles have these words, out of all there are. */
export async function findTitles(text: string, limit: number): Promise<ThreadRow[]> {
  const { threads: found } = await call('list_threads', { text, limit });
  await keep(found);
  return found;
}

/** Fetches the newest threads of an agent. */
export async function fetchThreadsOf(agentId: string, limit: number): Promise<void> {
  await keep((await call('list_threads', { with_agent: agentId, limit })).threads);
}

/** Fetches what is unread, the newest first. */
export async function fetchUnread(limit: number): Promise<void> {
  const page = await call('list_threads', { unread: true, limit, counts: true });
  threadCounts.value = page.counts;
  await keep(page.threads);
}

const soon = createSoon(700);

/** What happened may have changed the counts: those in sight are asked for anew. */
export function recount(wish?: ThreadWish): void {
  soon.ask(() => {
    void call('list_threads', { limit: 1, counts: true })
      .then(({ counts }) => (threadCounts.value = counts))
      .catch(() => {});
    if (wish !== undefined) void countAnew(wish);
  });
}

async function countAnew(wish: ThreadWish): Promise<void> {
  const key = keyOf(wish);
  if (!reaches.value.has(key)) return;
  const { counts } = await call('list_threads', { ...inputOf(wish), limit: 1, counts: true });
  const now = reaches.value.get(key);
  if (now !== undefined && counts !== undefined)
    reaches.value = new Map(reaches.value).set(key, { ...now, counts });
}

/** Takes rows in that the hub has listed; an older word does not undo what the stream has told since. */
export async function keep(found: readonly ThreadRow[]): Promise<void> {
  const next = new Map(threads.value);
  for (const thread of found) {
    const known = next.get(thread.thread_id);
    if (known === undefined || known.last_seq <= thread.last_seq)
      next.set(
        thread.thread_id,
        known !== undefined && known.last_read_seq > thread.last_read_seq
          ? { ...thread, last_read_seq: known.last_read_seq, unread: known.unread }
          : thread,
      );
  }
  threads.value = next;
  const unknown = found.map(({ thread_id }) => thread_id).filter((id) => !previews.value.has(id));
  if (unknown.length === 0) return;
  const answer = await call('preview_threads', { thread_ids: unknown });
  const shown = new Map(previews.value);
  for (const { thread_id, ...last } of answer.previews) if (!shown.has(thread_id)) shown.set(thread_id, last);
  previews.value = shown;
}

function keyOf(wish: ThreadWish): string {
  return JSON.stringify(inputOf(wish));
}

function inputOf({ which, text, agent, folder }: ThreadWish): Partial<InputOf<'list_threads'>> {
  return {
    ...WHICH[which],
    ...(text.trim() === '' ? {} : { text: text.trim() }),
    ...(agent === '' ? {} : { with_agent: agent }),
    ...(folder === '' ? {} : { folder }),
  };
}

/** The same question as the hub is asked, for what has come in since. */
function isWanted(thread: ThreadRow, { which, text, agent, folder }: ThreadWish): boolean {
  const { status, unread, disputed, participants, title } = thread;
  const isOpen = status === 'active' || status === 'blocked';
  if (which === '' && !isOpen) return false;
  if (which === 'resolved' && isOpen) return false;
  if (which === 'blocked' && !(isOpen && (status === 'blocked' || disputed))) return false;
  if (which === 'unread' && unread === 0) return false;
  if (agent !== '' && !participants.includes(agent)) return false;
  const inFolder = (name: string): boolean => {
    const place = folderOf(agentById.value.get(name) ?? {});
    return place === folder || place?.startsWith(`${folder}/`) === true;
  };
  if (folder !== '' && !participants.some(inFolder)) return false;
  const low = title.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}
