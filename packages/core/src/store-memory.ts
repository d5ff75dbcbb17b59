import type { Cursor } from '@parley/protocol';

import type { Command, Decision, Loaded } from './commands.ts';
import { CHAIN_START, type Entry, seal, type SealedEntry } from './entry.ts';
import { fingerprint } from './fingerprint.ts';
import { type IdempotencyRecord, replay } from './idempotency.ts';
import type { PutRecord, RecordKind, RecordKinds, RecordReader, RecordsQuery } from './records.ts';
import { decide, needs, takeTurn } from './rules.ts';
import type {
  Committed,
  Page,
  PageQuery,
  Reached,
  Store,
  ThreadRow,
  ThreadsPage,
  ThreadsQuery,
  WorkspacePage,
  WorkspaceQuery,
} from './store.ts';
import { isForeign, JOURNAL_PREFIX, type Located } from './threads/access.ts';
import type { ThreadState } from './threads/state.ts';

interface ThreadData {
  state: ThreadState;
  sealed: SealedEntry[];
}

/** The store of tests and simulations: the same rules, the same answers, nothing on disk; without a clock nobody waits. */
export function openMemoryStore(clock: () => number = () => 0): Store {
  const threads = new Map<string, ThreadData>();
  const cursors = new Map<string, Cursor>();
  const records = new Map<string, PutRecord>();
  const order: { thread_id: string; seq: number }[] = [];
  const keys = new Map<string, IdempotencyRecord>();

  function locate(threadId: string, workspaceId: string): Located {
    const thread = threads.get(threadId)?.state;
    if (thread !== undefined) {
      const main = thread.side_of === undefined ? undefined : threads.get(thread.side_of)?.state;
      return main === undefined ? { thread } : { thread, main };
    }
    const here = [...threads.values()].some(({ state }) => state.workspace_id === workspaceId);
    return { thread: undefined, foreign: isForeign(here, threads.size > 0) };
  }

  function entryAt(threadId: string, seq: number): Entry | undefined {
    const json = threads.get(threadId)?.sealed[seq]?.json;
    return json === undefined ? undefined : (JSON.parse(json) as Entry);
  }

  function load(command: Command): Loaded {
    const { thread, other, entry_seq, cursor, record, records: looks } = needs(command);
    const { workspace_id, agent_id } = command.caller;
    const kept = record && records.get(recordName(workspace_id, record.kind, record.key))?.value;
    return {
      located: thread === undefined ? { thread: undefined, foreign: false } : locate(thread, workspace_id),
      ...(other === undefined ? {} : { other: locate(other, workspace_id) }),
      entry: thread === undefined || entry_seq === undefined ? undefined : entryAt(thread, entry_seq),
      cursor: cursor === true ? cursors.get(`${thread} ${agent_id}`) : undefined,
      ...(kept === undefined ? {} : { record: kept as NonNullable<Loaded['record']> }),
      ...(looks === true ? { records: readerFor(workspace_id) } : {}),
    };
  }

  function readerFor(workspace_id: string): RecordReader {
    return {
      get: (kind, key) => records.get(recordName(workspace_id, kind, key))?.value as never,
      list: ({ limit = Number.POSITIVE_INFINITY, ...query }) =>
        someRecords(records.values(), { ...query, workspace_id, limit }),
    };
  }

  function apply({ changes, cursor, records: put = [], drops = [] }: Decision): Reached[] {
    const reached: Reached[] = [];
    for (const { entries, thread } of changes) {
      const { thread_id, last_seq, workspace_id } = thread;
      const data = threads.get(thread_id) ?? { state: thread, sealed: [] };
      for (const entry of entries) {
        data.sealed.push(seal(data.sealed.at(-1)?.hash ?? CHAIN_START, entry));
        order.push({ thread_id, seq: entry.seq });
      }
      threads.set(thread_id, { ...data, state: thread });
      reached.push({ thread_id, last_seq, workspace_id, pos: order.length });
    }
    if (cursor !== undefined) cursors.set(`${cursor.thread_id} ${cursor.agent_id}`, cursor);
    for (const record of put) records.set(recordName(record.workspace_id, record.kind, record.key), record);
    for (const { workspace_id, kind, key } of drops) records.delete(recordName(workspace_id, kind, key));
    return reached;
  }

  function transact(command: Command): Committed {
    takeTurn(command, clock());
    const { idempotency, caller } = command;
    const key =
      idempotency === undefined
        ? undefined
        : JSON.stringify([idempotency.scope, caller.agent_id, idempotency.key]);
    if (idempotency !== undefined && key !== undefined) {
      const result = replay(keys.get(key), idempotency, fingerprint(command));
      if (result !== undefined) return { result, replayed: true };
    }
    const decision = decide(load(command), command);
    const reached = apply(decision);
    if (idempotency !== undefined && key !== undefined) {
      keys.set(key, {
        fingerprint: fingerprint(command),
        result: decision.result,
        at: command.now,
      });
    }
    const { result } = decision;
    return reached.length === 0 ? { result, replayed: false } : { result, replayed: false, reached };
  }

  function visible(
    pos: number,
    { workspace_id, participant }: WorkspaceQuery,
  ): WorkspacePage['rows'][number] | undefined {
    const { thread_id, seq } = order[pos - 1] ?? { thread_id: '', seq: 0 };
    const state = threads.get(thread_id)?.state;
    if (state === undefined || (workspace_id !== undefined && state.workspace_id !== workspace_id))
      return undefined;
    const entry = isOpenTo(state, participant) ? entryAt(thread_id, seq) : undefined;
    return entry && { pos, workspace_id: state.workspace_id, entry };
  }

  /** Side channels are open to all of their main thread. */
  function isOpenTo(state: ThreadState, participant: string | undefined): boolean {
    if (participant === undefined || state.participants.includes(participant)) return true;
    const main = state.side_of === undefined ? undefined : threads.get(state.side_of)?.state;
    return main?.participants.includes(participant) === true;
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
        .filter(({ state }) => !state.thread_id.startsWith(JOURNAL_PREFIX))
        .filter(
          ({ state }) => query.participant === undefined || state.participants.includes(query.participant),
        )
        .filter(({ state }) => query.status === undefined || state.status === query.status)
        .filter(({ state, last_read_seq }) => !query.unread || state.last_seq > last_read_seq)
        .toSorted((a, b) => compare(b.state, a.state))
        .filter(({ state }) => query.before === undefined || compare(state, query.before) < 0);
      return bounded(rows, query);
    },
    records: async (query) => someRecords(records.values(), query),
    async workspace(query) {
      const rows: WorkspacePage['rows'] = [];
      let bytes = 0;
      for (let pos = query.after + 1; pos <= order.length; pos++) {
        const row = visible(pos, query);
        if (row === undefined) continue;
        bytes += JSON.stringify(row.entry).length;
        if (rows.length === query.limit || (rows.length > 0 && bytes > query.max_bytes))
          return { rows, next: rows.at(-1)?.pos ?? query.after, has_more: true };
        rows.push(row);
      }
      return { rows, next: Math.max(query.after, order.length), has_more: false };
    },
    position: async () => order.length,
    async search(query) {
      const words = query.text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
      const hits = [...threads.values()]
        .filter(({ state }) => state.workspace_id === query.workspace_id)
        .filter(({ state }) => isOpenTo(state, query.participant))
        .filter(({ state }) => query.thread_id === undefined || state.thread_id === query.thread_id)
        .flatMap(({ sealed }) => sealed.slice(1).map(({ json }) => JSON.parse(json) as Entry))
        .filter(
          (entry) => words.length > 0 && words.every((word) => entry.body.toLowerCase().includes(word)),
        );
      return {
        hits: hits.slice(0, query.limit).map((entry) => ({ entry, snippet: entry.body.slice(0, 160) })),
        lacks: [],
      };
    },
    readable: async ({ workspace_id, participant }) =>
      [...threads.values()]
        .filter(({ state }) => state.workspace_id === workspace_id && isOpenTo(state, participant))
        .map(({ state }) => state.thread_id),
    searchLag: async () => ({ entries: 0 }),
    forgetKeys(before) {
      for (const [name, { at }] of keys) if (at < before) keys.delete(name);
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

function recordName(workspaceId: string, kind: RecordKind, key: string): string {
  return JSON.stringify([workspaceId, kind, key]);
}

function someRecords<K extends RecordKind>(
  all: Iterable<PutRecord>,
  { kind, workspace_id, marks, owner, keys, prefix = '', past, descending = false, limit }: RecordsQuery<K>,
): RecordKinds[K][] {
  const sign = descending ? -1 : 1;
  const found: PutRecord[] = [];
  for (const record of all) {
    if (record.kind !== kind || !record.key.startsWith(prefix)) continue;
    if (workspace_id !== undefined && record.workspace_id !== workspace_id) continue;
    if (marks !== undefined && !marks.includes(record.mark)) continue;
    if (owner !== undefined && record.owner !== owner) continue;
    if (keys !== undefined && !keys.includes(record.key)) continue;
    if (past === undefined || sign * byText(record.key, past) > 0) found.push(record);
  }
  return found
    .toSorted((a, b) => sign * (byText(a.workspace_id, b.workspace_id) || byText(a.key, b.key)))
    .slice(0, limit)
    .map((record) => record.value as RecordKinds[K]);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
