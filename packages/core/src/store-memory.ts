import type { Cursor } from '@parley/protocol';

import { type Command, type Decision, type Loaded, loadedRecord } from './commands.ts';
import { CHAIN_START, type Entry, seal, type SealedEntry, readEntry } from './entry.ts';
import { fingerprint } from './fingerprint.ts';
import { OWN_WORKSPACE } from './hub-caller.ts';
import { type IdempotencyRecord, replay } from './idempotency.ts';
import {
  dueField,
  type PutRecord,
  type RecordKind,
  type RecordKinds,
  type RecordReader,
  type RecordsQuery,
  walkUp,
} from './records.ts';
import type { ResultOf } from './commands.ts';
import { decide, needs, takeTurn } from './rules.ts';
import type {
  Committed,
  Page,
  PageQuery,
  Reading,
  Reached,
  Store,
  ThreadPlace,
  ThreadRow,
  ThreadsPage,
  ThreadsQuery,
  WorkspacePage,
  WorkspaceQuery,
} from './store.ts';
import { isForeign, JOURNAL_PREFIX, type Located } from './threads/access.ts';
import { isDisputed, type ThreadState } from './threads/state.ts';
import { countThreads, hasWords, isInGroup } from './threads/thread-filter.ts';
import { unreadFor } from './threads/unread.ts';

interface ThreadData {
  state: ThreadState;
  sealed: SealedEntry[];
}

/** The store of tests and simulations: the same rules, the same answers, nothing on disk; without a clock nobody waits. */
export function openMemoryStore(clock: () => number = () => 0): Store {
  const threads = new Map<string, ThreadData>();
  const cursors = new Map<string, Cursor>();
  const records = new Map<RecordKind, Map<string, PutRecord>>();
  /** The logs of the workspaces, each in the order it was accepted. */
  const logs = new Map<string, { thread_id: string; seq: number }[]>();
  const keys = new Map<string, IdempotencyRecord>();

  function recordsOf(kind: RecordKind): Map<string, PutRecord> {
    const found = records.get(kind) ?? new Map<string, PutRecord>();
    if (found.size === 0) records.set(kind, found);
    return found;
  }

  function locate(threadId: string, workspaceId: string): Located {
    const thread = threads.get(threadId)?.state;
    if (thread !== undefined) {
      const main = thread.side_of === undefined ? undefined : threads.get(thread.side_of)?.state;
      return main === undefined ? { thread } : { thread, main };
    }
    const here = [...threads.values()].some(({ state }) => state.workspace_id === workspaceId);
    return { thread: undefined, foreign: isForeign(here, threads.size > 0) };
  }

  /** Newest activity last, of one moment the youngest thread last. */
  function compare(a: ThreadPlace, b: ThreadPlace): number {
    const born = (id: string): number => [...threads.keys()].indexOf(id);
    return byText(a.updated_at, b.updated_at) || born(a.thread_id) - born(b.thread_id);
  }

  function entryAt(threadId: string, seq: number): Entry | undefined {
    const json = threads.get(threadId)?.sealed[seq]?.json;
    return json === undefined ? undefined : readEntry(json);
  }

  function load(command: Command): Loaded {
    const { thread, other, entry_seq, cursor, record, records: looks, lease } = needs(command);
    const { workspace_id, agent_id } = command.caller;
    const kept = record && recordsOf(record.kind).get(recordName(workspace_id, record.key))?.value;
    const held = lease === undefined ? undefined : readerFor(OWN_WORKSPACE).get('lease', lease);
    return {
      located: thread === undefined ? { thread: undefined, foreign: false } : locate(thread, workspace_id),
      ...(other === undefined ? {} : { other: locate(other, workspace_id) }),
      entry: thread === undefined || entry_seq === undefined ? undefined : entryAt(thread, entry_seq),
      cursor: cursor === true ? cursors.get(`${thread} ${agent_id}`) : undefined,
      ...(record === undefined || kept === undefined ? {} : { record: loadedRecord(record.kind, kept) }),
      ...(looks === true ? { records: readerFor(workspace_id) } : {}),
      ...(held === undefined ? {} : { lease: held }),
    };
  }

  function readerFor(workspace_id: string): RecordReader {
    return {
      // What is put under a kind is of that kind; a map of all kinds does not say so.
      get: (kind, key) => recordsOf(kind).get(recordName(workspace_id, key))?.value as never,
      list: ({ limit = Number.POSITIVE_INFINITY, ...query }) =>
        someRecords(recordsOf(query.kind).values(), { ...query, workspace_id, limit }),
    };
  }

  function apply({ changes, cursor, records: put = [], drops = [] }: Decision): Reached[] {
    const reached: Reached[] = [];
    for (const { entries, thread } of changes) {
      const { thread_id, last_seq, workspace_id } = thread;
      const data = threads.get(thread_id) ?? { state: thread, sealed: [] };
      const log = logs.get(workspace_id) ?? [];
      logs.set(workspace_id, log);
      for (const entry of entries) {
        data.sealed.push(seal(data.sealed.at(-1)?.hash ?? CHAIN_START, entry));
        log.push({ thread_id, seq: entry.seq });
      }
      threads.set(thread_id, { ...data, state: thread });
      const pos = log.length;
      reached.push({ thread_id, last_seq, workspace_id, after: pos - entries.length, pos });
    }
    if (cursor !== undefined) cursors.set(`${cursor.thread_id} ${cursor.agent_id}`, cursor);
    for (const record of put) recordsOf(record.kind).set(recordName(record.workspace_id, record.key), record);
    for (const { workspace_id, kind, key } of drops) recordsOf(kind).delete(recordName(workspace_id, key));
    return reached;
  }

  function transact<C extends Command>(command: C): Committed<ResultOf<C['type']>> {
    takeTurn(command, clock());
    const { idempotency, caller } = command;
    const key =
      idempotency === undefined
        ? undefined
        : JSON.stringify([idempotency.scope, caller.agent_id, idempotency.key]);
    if (idempotency !== undefined && key !== undefined) {
      const result = replay(keys.get(key), idempotency, fingerprint(command));
      // The same key binds the same command: its answer is of the same shape.
      if (result !== undefined) return { result: result as ResultOf<C['type']>, replayed: true };
    }
    const decision = decide(load(command), command);
    const reached = apply(decision);
    if (idempotency !== undefined && key !== undefined && idempotency.peek !== true) {
      keys.set(key, {
        fingerprint: fingerprint(command),
        result: decision.result,
        at: command.now,
      });
    }
    const { result } = decision;
    return reached.length === 0 ? { result, replayed: false } : { result, replayed: false, reached };
  }

  const lengthOf = (workspaceId: string): number => logs.get(workspaceId)?.length ?? 0;

  function visible(
    pos: number,
    { workspace_id, participant }: WorkspaceQuery,
  ): WorkspacePage['rows'][number] | undefined {
    const { thread_id = '', seq = 0 } = logs.get(workspace_id)?.[pos - 1] ?? {};
    const state = threads.get(thread_id)?.state;
    if (state === undefined) return undefined;
    const entry = isOpenTo(state, participant) ? entryAt(thread_id, seq) : undefined;
    return entry && { pos, entry };
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
      entries.push(readEntry(json));
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

  function readingOf(threadId: string, reader: string): Reading {
    const { last_read_seq = 0, last_acked_message_id = null } = cursors.get(`${threadId} ${reader}`) ?? {};
    const own = (threads.get(threadId)?.sealed ?? [])
      .slice(last_read_seq + 1)
      .map(({ json }) => readEntry(json))
      .filter(({ sender_agent_id }) => sender_agent_id === reader);
    return { last_read_seq, last_acked_message_id, own: own.length };
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
        .map(({ json }) => readEntry(json))
        .filter((entry) => entry.in_reply_to === messageId)
        .map((entry) => entry.message_id),
    reading: async (threadId, reader) => readingOf(threadId, reader),
    async threads(query) {
      const rows: ThreadRow[] = [...threads.values()]
        .filter(({ state }) => state.workspace_id === query.workspace_id)
        .filter(({ state }) => !state.thread_id.startsWith(JOURNAL_PREFIX))
        .filter(
          ({ state }) => query.participant === undefined || state.participants.includes(query.participant),
        )
        .filter(({ state }) => query.status === undefined || state.status === query.status)
        .filter(({ state }) => isInGroup({ ...state, disputed: isDisputed(state) }, query.group))
        .filter(({ state }) => hasWords(state.title, query.text))
        .filter(({ state }) => query.with_any?.some((name) => state.participants.includes(name)) ?? true)
        .filter(({ state }) => query.side_of === undefined || state.side_of === query.side_of)
        .map(({ state }) => ({ state, ...readingOf(state.thread_id, query.reader) }))
        .filter(({ state, ...reading }) => !query.unread || unreadFor(state, reading) > 0)
        .toSorted((a, b) => compare(b.state, a.state))
        .filter(({ state }) => query.before === undefined || compare(state, query.before) < 0);
      return bounded(rows, query);
    },
    async countThreads({ text, with_any, past, limit, ...query }) {
      const found = [...threads.values()]
        .map(({ state }) => state)
        .filter(({ workspace_id, thread_id, participants }) => {
          const { participant } = query;
          return (
            workspace_id === query.workspace_id &&
            !thread_id.startsWith(JOURNAL_PREFIX) &&
            (participant === undefined || participants.includes(participant)) &&
            (with_any?.some((name) => participants.includes(name)) ?? true)
          );
        });
      const begin = Number(past ?? 0);
      const counted = found.slice(begin, begin + limit).map((state) => ({
        ...state,
        disputed: isDisputed(state),
        unread: unreadFor(state, readingOf(state.thread_id, query.reader)) > 0,
      }));
      const end = begin + limit;
      return { counts: countThreads(counted, text), next: end < found.length ? String(end) : undefined };
    },
    async agents({ workspace_id, past = '', limit }) {
      const names = (['agent', 'session', 'ask'] as const)
        .flatMap((kind) => [...recordsOf(kind).values()])
        .filter((record) => record.workspace_id === workspace_id && record.owner > past)
        .filter(({ kind, mark }) => kind !== 'ask' || mark === 'open')
        .map(({ owner }) => owner);
      return [...new Set(names)].toSorted(byText).slice(0, limit);
    },
    async records({ owners, ...query }) {
      const all = recordsOf(query.kind);
      if (query.line !== undefined)
        return [...walkUp(query.line, query.limit, (key) => someRecords(all.values(), byKey(query, key)))];
      return owners === undefined
        ? someRecords(all.values(), query)
        : owners.flatMap((owner) => someRecords(all.values(), { ...query, owner }));
    },
    async workspace(query) {
      const rows: WorkspacePage['rows'] = [];
      let bytes = 0;
      const head = lengthOf(query.workspace_id);
      for (let pos = query.after + 1; pos <= head; pos++) {
        const row = visible(pos, query);
        if (row === undefined) continue;
        bytes += JSON.stringify(row.entry).length;
        if (rows.length === query.limit || (rows.length > 0 && bytes > query.max_bytes))
          return { rows, next: rows.at(-1)?.pos ?? query.after, has_more: true };
        rows.push(row);
      }
      return { rows, next: Math.max(query.after, head), has_more: false };
    },
    position: async (workspaceId) => lengthOf(workspaceId),
    heads: async ({ past, limit }) =>
      [...logs]
        .map(([workspace_id, { length: pos }]) => ({ workspace_id, pos }))
        .filter(({ workspace_id }) => workspace_id > past)
        .toSorted((a, b) => byText(a.workspace_id, b.workspace_id))
        .slice(0, limit),
    size: async () => [...logs.values()].reduce((sum, { length }) => sum + length, 0),
    placeOf: async (_workspaceId, cursor) => cursor,
    async search(query) {
      const words = query.text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
      const hits = [...threads.values()]
        .filter(({ state }) => state.workspace_id === query.workspace_id)
        .filter(({ state }) => isOpenTo(state, query.participant))
        .filter(({ state }) => query.thread_id === undefined || state.thread_id === query.thread_id)
        .flatMap(({ sealed }) => sealed.slice(1).map(({ json }) => readEntry(json)))
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
  const last = page.at(-1)?.state;
  if (last === undefined || page.length === rows.length) return { rows: page };
  return { rows: page, next: { updated_at: last.updated_at, thread_id: last.thread_id } };
}

function recordName(workspaceId: string, key: string): string {
  return JSON.stringify([workspaceId, key]);
}

function byKey<K extends RecordKind>({ kind, workspace_id }: RecordsQuery<K>, key: string): RecordsQuery<K> {
  return { kind, workspace_id, keys: [key], limit: 1 };
}

/** The values that a query asks for, in its order. */
export function someRecords<K extends RecordKind>(
  all: Iterable<PutRecord>,
  query: RecordsQuery<K>,
): RecordKinds[K][] {
  const { kind, workspace_id, marks, owner, keys, prefix = '', past, descending = false } = query;
  const { standing, offset = 0, limit, after, due_by, heard_last = false, from = '' } = query;
  const sign = descending ? -1 : 1;
  const found: PutRecord[] = [];
  for (const record of all) {
    if (record.kind !== kind || !record.key.startsWith(prefix) || byText(record.key, from) < 0) continue;
    if (workspace_id !== undefined && record.workspace_id !== workspace_id) continue;
    if (marks !== undefined && !marks.includes(record.mark)) continue;
    if (owner !== undefined && record.owner !== owner) continue;
    if (keys !== undefined && !keys.includes(record.key)) continue;
    if (after !== undefined && byPlace(record, after) <= 0) continue;
    const due = due_by === undefined ? undefined : dueOf(record);
    if (due_by !== undefined && (due === undefined || due > due_by)) continue;
    const gone = 'delete_at' in record.value ? record.value.delete_at : undefined;
    if (standing !== undefined && gone !== undefined && gone <= standing) continue;
    if (past === undefined || sign * byText(record.key, past) > 0) found.push(record);
  }
  return (
    found
      .toSorted(
        (a, b) =>
          (due_by === undefined ? 0 : byMoment(a, b)) ||
          (heard_last ? byHeard(b, a) : 0) ||
          sign * byPlace(a, b),
      )
      .slice(offset, offset + limit)
      // Only those of the kind were taken.
      .map((record) => record.value as RecordKinds[K])
  );
}

function byPlace(
  a: Pick<PutRecord, 'workspace_id' | 'key'>,
  b: Pick<PutRecord, 'workspace_id' | 'key'>,
): number {
  return byText(a.workspace_id, b.workspace_id) || byText(a.key, b.key);
}

function byMoment(a: PutRecord, b: PutRecord): number {
  const [one = '', other = ''] = [dueOf(a), dueOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function byHeard(a: PutRecord, b: PutRecord): number {
  const [one, other] = [a, b].map(({ value }) =>
    'last_heartbeat_at' in value ? value.last_heartbeat_at : '',
  );
  return byText(one ?? '', other ?? '');
}

/** The moment at which something is to be done about a record. */
function dueOf({ kind, value }: PutRecord): string | number | undefined {
  const field = dueField(kind);
  const due = field === undefined ? undefined : Object.entries(value).find(([name]) => name === field)?.[1];
  return typeof due === 'string' || typeof due === 'number' ? due : undefined;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
