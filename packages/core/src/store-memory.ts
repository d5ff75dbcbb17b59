import type { Cursor, Session } from '@parley/protocol';

import type { Command, Decision, Loaded } from './commands.ts';
import { CHAIN_START, type Entry, seal, type SealedEntry } from './entry.ts';
import { fingerprint } from './fingerprint.ts';
import { type IdempotencyRecord, replay } from './idempotency.ts';
import { decide, needs } from './rules.ts';
import type { Committed, Page, PageQuery, Store, ThreadRow, ThreadsPage, ThreadsQuery } from './store.ts';
import { isForeign, type Located } from './threads/access.ts';
import type { ThreadState } from './threads/state.ts';

interface ThreadData {
  state: ThreadState;
  sealed: SealedEntry[];
}

/** The store of tests and simulations: the same rules, the same answers, nothing on disk. */
export function openMemoryStore(): Store {
  const threads = new Map<string, ThreadData>();
  const cursors = new Map<string, Cursor>();
  const sessions = new Map<string, Session>();
  const keys = new Map<string, IdempotencyRecord>();

  function locate(threadId: string, workspaceId: string): Located {
    const thread = threads.get(threadId)?.state;
    if (thread !== undefined) return { thread };
    const here = [...threads.values()].some(({ state }) => state.workspace_id === workspaceId);
    return { thread: undefined, foreign: isForeign(here, threads.size > 0) };
  }

  function entryAt(threadId: string, seq: number): Entry | undefined {
    const json = threads.get(threadId)?.sealed[seq]?.json;
    return json === undefined ? undefined : (JSON.parse(json) as Entry);
  }

  function load(command: Command): Loaded {
    const { thread, entry_seq, cursor } = needs(command);
    if (thread === undefined)
      return { located: { thread: undefined, foreign: false }, entry: undefined, cursor: undefined };
    return {
      located: locate(thread, command.caller.workspace_id),
      entry: entry_seq === undefined ? undefined : entryAt(thread, entry_seq),
      cursor: cursor === true ? cursors.get(`${thread} ${command.caller.agent_id}`) : undefined,
    };
  }

  function apply({ entries, thread, cursor, session }: Decision): void {
    if (thread !== undefined) {
      const data = threads.get(thread.thread_id) ?? { state: thread, sealed: [] };
      for (const entry of entries) data.sealed.push(seal(data.sealed.at(-1)?.hash ?? CHAIN_START, entry));
      threads.set(thread.thread_id, { ...data, state: thread });
    }
    if (cursor !== undefined) cursors.set(`${cursor.thread_id} ${cursor.agent_id}`, cursor);
    if (session !== undefined)
      sessions.set(`${session.workspace_id} ${session.agent_id} ${session.session_id}`, session);
  }

  function transact(command: Command): Committed {
    const { idempotency, caller } = command;
    const key =
      idempotency === undefined
        ? undefined
        : JSON.stringify([idempotency.scope, caller.agent_id, idempotency.key]);
    if (idempotency !== undefined && key !== undefined) {
      const result = replay(keys.get(key), idempotency, fingerprint(command.input));
      if (result !== undefined) return { result, replayed: true };
    }
    const decision = decide(load(command), command);
    apply(decision);
    if (idempotency !== undefined && key !== undefined) {
      keys.set(key, {
        fingerprint: fingerprint(command.input),
        result: decision.result,
        at: command.now,
      });
    }
    const { thread, result } = decision;
    return thread === undefined
      ? { result, replayed: false }
      : { result, replayed: false, thread_id: thread.thread_id, last_seq: thread.last_seq };
  }

  function slice(query: Omit<PageQuery, 'after'>, after: number): Page {
    const located = locate(query.thread_id, query.workspace_id);
    const entries: Entry[] = [];
    let bytes = 0;
    const last = located.thread?.last_seq ?? 0;
    for (let seq = after + 1; seq <= last && entries.length < query.limit; seq++) {
      const json = threads.get(query.thread_id)?.sealed[seq]?.json ?? '';
      bytes += json.length;
      if (entries.length > 0 && bytes > query.max_bytes) break;
      entries.push(JSON.parse(json) as Entry);
    }
    return { located, entries, has_more: (entries.at(-1)?.seq ?? after) < last };
  }

  function tailStart({ thread_id, limit, max_bytes }: Omit<PageQuery, 'after'>): number {
    const sealed = threads.get(thread_id)?.sealed ?? [];
    const last = Math.max(0, sealed.length - 1);
    let after = last;
    let bytes = 0;
    while (after > Math.max(0, last - limit)) {
      bytes += Buffer.byteLength(sealed[after]?.json ?? '');
      if (after < last && bytes > max_bytes) break;
      after--;
    }
    return after;
  }

  return {
    transact: async (command) => transact(structuredClone(command)),
    page: async (query) => slice(query, query.after),
    tail: async (query) => slice(query, tailStart(query)),
    cursors: async (threadId) =>
      [...cursors.values()]
        .filter((cursor) => cursor.thread_id === threadId)
        .toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1)),
    references: async (threadId, messageId) =>
      (threads.get(threadId)?.sealed ?? [])
        .map(({ json }) => JSON.parse(json) as Entry)
        .filter((entry) => entry.in_reply_to === messageId)
        .map((entry) => entry.message_id),
    async threads(query) {
      const rows: ThreadRow[] = [...threads.values()]
        .map(({ state }) => ({
          state,
          last_read_seq: cursors.get(`${state.thread_id} ${query.reader}`)?.last_read_seq ?? 0,
        }))
        .filter(({ state }) => state.workspace_id === query.workspace_id)
        .filter(
          ({ state }) => query.participant === undefined || state.participants.includes(query.participant),
        )
        .filter(({ state }) => query.status === undefined || state.status === query.status)
        .filter(({ state, last_read_seq }) => !query.unread || state.last_seq > last_read_seq)
        .toSorted((a, b) => compare(b.state, a.state))
        .filter(({ state }) => query.before === undefined || compare(state, query.before) < 0);
      return bounded(rows, query);
    },
    sessions: async (workspaceId) =>
      [...sessions.values()].filter((session) => session.workspace_id === workspaceId).toSorted(bySession),
    async search(query) {
      const words = query.text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
      const hits = [...threads.values()]
        .filter(({ state }) => state.workspace_id === query.workspace_id)
        .filter(
          ({ state }) => query.participant === undefined || state.participants.includes(query.participant),
        )
        .filter(({ state }) => query.thread_id === undefined || state.thread_id === query.thread_id)
        .flatMap(({ sealed }) => sealed.slice(1).map(({ json }) => JSON.parse(json) as Entry))
        .filter(
          (entry) => words.length > 0 && words.every((word) => entry.body.toLowerCase().includes(word)),
        );
      return {
        hits: hits.slice(0, query.limit).map((entry) => ({ entry, snippet: entry.body.slice(0, 160) })),
        complete: true,
      };
    },
    health: () => ({ writable: true }),
    close: async () => {},
  };
}

function bounded(rows: readonly ThreadRow[], { limit, max_bytes }: ThreadsQuery): ThreadsPage {
  const page: ThreadRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += JSON.stringify(row.state).length;
    if (page.length === limit || (page.length > 0 && bytes > max_bytes)) break;
    page.push(row);
  }
  return { rows: page, has_more: page.length < rows.length };
}

type Position = Pick<ThreadState, 'updated_at' | 'thread_id'>;

function compare(a: Position, b: Position): number {
  if (a.updated_at !== b.updated_at) return a.updated_at < b.updated_at ? -1 : 1;
  return a.thread_id < b.thread_id ? -1 : a.thread_id > b.thread_id ? 1 : 0;
}

function bySession(a: Session, b: Session): number {
  return a.agent_id === b.agent_id
    ? a.session_id < b.session_id
      ? -1
      : 1
    : a.agent_id < b.agent_id
      ? -1
      : 1;
}
