import { hash } from 'node:crypto';

import {
  CHAIN_START,
  type Command,
  type Committed,
  type Decision,
  type Entry,
  isForeign,
  link,
  type Loaded,
  type Located,
  OWN_WORKSPACE,
  type Reached,
  type RecordReader,
  seal,
  type ThreadState,
  readEntry,
  loadedRecord,
} from '@parley/core';
import { decide, fingerprint, type IdempotencyRecord, needs, replay, takeTurn } from '@parley/core/rules';
import { type Cursor, ParleyError } from '@parley/protocol';

import { recordTally } from './doubtful-rows.ts';
import { replyOf } from './fold-thread.ts';
import { listRecords } from './list-records.ts';
import { number } from './number.ts';
import {
  damaged,
  damagedEntry,
  readRecord,
  rowSum,
  sumOfCursor,
  sumOfHead,
  sumOfRecord,
  sumOfThread,
} from '@parley/store-rows';
import { Runs, sumOfRun } from './runs.ts';
import { createSenderCounts, type EndedRun, type SenderCounts, SenderRuns } from './sender-counts.ts';
import { packAnswer, unpackAnswer } from '@parley/store-rows';
import type { DatabaseSync } from './sqlite.ts';
import type { Tallies } from './tallies.ts';
import { listedIn, type OpenRun, readThread, runColumns, sameButForHead } from './thread-record.ts';
import type { Reply } from './thread-protocol.ts';
import { prepareWriterStatements, type WriterStatements } from './writer-statements.ts';

interface CachedThread {
  id: number;
  state: ThreadState;
  /** Hash of the newest entry. */
  head: string;
  /** The state as the table has it. */
  stored: ThreadState | undefined;
  runs: SenderRuns;
  /** The run that is open in the table. */
  storedRun: OpenRun | undefined;
  /** Runs that have ended and are not in the table. */
  ended: EndedRun[];
}

const CACHED_THREADS = 2_000;

/** Carries out commands by the rules of the core, inside the transaction that its owner has opened. */
export class Writer {
  readonly #db: DatabaseSync;
  readonly #sql: WriterStatements;
  readonly #tallies: Tallies;
  readonly #counts: SenderCounts;
  readonly #onEntry: (pos: number, thread: number, entry: Entry) => void;
  readonly #threads = new Map<string, CachedThread>();
  /** Those whose row is not yet as their entries are: they stay in mind. */
  readonly #touched = new Set<CachedThread>();
  readonly #workspaces = new Set<string>();
  readonly #tagsByScope = new Map<string, string>();
  readonly #runs: Runs;
  /** How many entries the workspaces have that were written to lately. */
  readonly #headsByWorkspace = new Map<string, number>();
  /** The workspace of the newest entry; undefined where that is not known. */
  #current: string | undefined;
  /** The newest row of the log: those of all workspaces stand in one order, of which nobody is told. */
  #position: number;
  /** How far the log on disk has come. */
  #durable: number;

  /** `onEntry` hears of every entry as it is sealed. */
  constructor(
    db: DatabaseSync,
    tallies: Tallies,
    onEntry: (pos: number, thread: number, entry: Entry) => void,
  ) {
    this.#db = db;
    this.#onEntry = onEntry;
    this.#sql = prepareWriterStatements(db);
    this.#tallies = tallies;
    this.#runs = new Runs(db);
    this.#counts = createSenderCounts(db);
    this.#position = this.#durable = number(db, 'SELECT max(pos) FROM entries');
  }

  /** How far the log has come, what is not committed yet included. */
  get position(): number {
    return this.#position;
  }

  /** Carries out one command whose turn has come at a moment; a refused one leaves no trace. */
  attempt(command: Command, at: number): Reply {
    try {
      takeTurn(command, at);
      return { ok: this.#transact(command) };
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      return {
        error: {
          code: error.code,
          message: error.message,
          ...(error.details === undefined ? {} : { details: error.details }),
        },
      };
    }
  }

  /** The transaction is on disk. */
  keep(): void {
    this.#durable = this.#position;
  }

  /** The transaction was rolled back: nothing of it is remembered. */
  drop(): void {
    this.#threads.clear();
    this.#touched.clear();
    this.#workspaces.clear();
    this.#headsByWorkspace.clear();
    this.#current = undefined;
    this.#position = this.#durable;
  }

  #transact(command: Command): Committed {
    const { idempotency, caller, now } = command;
    if (idempotency === undefined) return this.#commit(command);
    const name = this.#keyName(idempotency.scope, caller.agent_id, idempotency.key);
    const print = fingerprint(command);
    const result = replay(this.#record(name), idempotency, print);
    if (result !== undefined) return { result, replayed: true };
    const committed = this.#commit(command);
    if (idempotency.peek === true) return committed;
    const text = packAnswer(committed.result);
    this.#sql.putKey.get(name, print, now, text, rowSum(name, print, now, text));
    return committed;
  }

  #commit(command: Command): Committed {
    const decision = decide(this.#load(command), command);
    const reached = this.#apply(decision);
    const { result } = decision;
    return reached.length === 0 ? { result, replayed: false } : { result, replayed: false, reached };
  }

  #record(name: string): IdempotencyRecord | undefined {
    const row = this.#sql.getKey.get(name);
    if (row === undefined) return undefined;
    const { at, result, sum } = row;
    if (rowSum(name, row.fingerprint, at, result) !== sum) throw damaged(`the idempotency key ${name}`);
    return { fingerprint: row.fingerprint, at, result: unpackAnswer(result) };
  }

  /** Keys of one sender stand together in their own order, so that a batch touches few pages; the tag says where they hold. */
  #keyName(scope: string, sender: string, key: string): string {
    let tag = this.#tagsByScope.get(scope);
    if (tag === undefined) {
      if (this.#tagsByScope.size >= CACHED_THREADS) this.#tagsByScope.clear();
      tag = hash('sha256', scope, 'base64url').slice(0, 22);
      this.#tagsByScope.set(scope, tag);
    }
    return `${sender} ${key} ${tag}`;
  }

  #load(command: Command): Loaded {
    const { thread, other, entry_seq, cursor, record, records, lease } = needs(command);
    const { workspace_id, agent_id } = command.caller;
    const cached = thread === undefined ? undefined : this.#thread(thread);
    const loaded: Loaded = {
      located: cached === undefined ? this.#missing(workspace_id, thread) : this.#located(cached),
      entry: cached === undefined || entry_seq === undefined ? undefined : this.#entry(cached, entry_seq),
      cursor: cached === undefined || cursor !== true ? undefined : this.#cursor(cached, agent_id),
    };
    if (other !== undefined) {
      const second = this.#thread(other);
      loaded.other = second === undefined ? this.#missing(workspace_id, other) : this.#located(second);
    }
    if (record !== undefined) {
      const row = this.#sql.getRecord.get(record.kind, workspace_id, record.key);
      if (row !== undefined) loaded.record = loadedRecord(record.kind, readRecord(row));
    }
    if (records === true) loaded.records = this.#readerFor(workspace_id);
    if (lease !== undefined) {
      const held = this.#readerFor(OWN_WORKSPACE).get('lease', lease);
      if (held !== undefined) loaded.lease = held;
    }
    return loaded;
  }

  #readerFor(workspace_id: string): RecordReader {
    return {
      get: (kind, key) => {
        const row = this.#sql.getRecord.get(kind, workspace_id, key);
        return row === undefined ? undefined : readRecord(row);
      },
      list: ({ limit = -1, ...query }) => listRecords(this.#db, { ...query, workspace_id, limit }),
    };
  }

  #thread(threadId: string): CachedThread | undefined {
    const cached = this.#threads.get(threadId);
    if (cached !== undefined) return cached;
    const row = this.#sql.getThread.get(threadId);
    if (row === undefined) return undefined;
    const { state, head, open } = readThread(row);
    const runs = new SenderRuns(open);
    return this.#remember({ id: row.id, state, head, stored: state, runs, storedRun: open, ended: [] });
  }

  /** With a side channel its main thread: what holds there may hold here. */
  #located({ state }: CachedThread): Located {
    const main = state.side_of === undefined ? undefined : this.#thread(state.side_of);
    return main === undefined ? { thread: state } : { thread: state, main: main.state };
  }

  #remember(thread: CachedThread): CachedThread {
    if (this.#threads.size >= CACHED_THREADS) {
      for (const [id, known] of this.#threads) {
        if (this.#touched.has(known)) continue;
        this.#threads.delete(id);
        break;
      }
    }
    this.#threads.set(thread.state.thread_id, thread);
    return thread;
  }

  #missing(workspaceId: string, threadId: string | undefined): Located {
    if (threadId === undefined) return { thread: undefined, foreign: false };
    if (!this.#workspaces.has(workspaceId) && this.#sql.anyThreadOf.get(workspaceId) !== undefined)
      this.#workspaces.add(workspaceId);
    return {
      thread: undefined,
      foreign: isForeign(this.#workspaces.has(workspaceId), this.#sql.anyThread.get() !== undefined),
    };
  }

  #entry({ id, state: { thread_id } }: CachedThread, seq: number): Entry | undefined {
    const row = this.#sql.getEntry.get(id, seq);
    if (row === undefined) return undefined;
    const before = this.#sql.getEntry.get(id, seq - 1);
    if (link(before?.hash ?? CHAIN_START, row.json) !== row.hash) throw damagedEntry(thread_id, seq);
    return readEntry(row.json);
  }

  #cursor(thread: CachedThread, agentId: string): Cursor | undefined {
    const row = this.#sql.getCursor.get(thread.id, agentId);
    if (row === undefined) return undefined;
    const { thread_id } = thread.state;
    if (sumOfCursor(row) !== row.sum)
      throw damaged(`the cursor of ${agentId} in ${thread_id}`, { thread_id });
    const { last_read_seq, last_acked_message_id, updated_at } = row;
    return { thread_id, agent_id: agentId, last_read_seq, last_acked_message_id, updated_at };
  }

  #apply({ changes, cursor, records, drops }: Decision): Reached[] {
    // Of several threads each is looked at before the first is written to.
    if (changes.length > 1) for (const { thread, entries } of changes) this.#lookUp(thread, entries);
    const reached = changes.map(({ thread, entries }) => this.#append(thread, entries));
    if (cursor !== undefined) {
      const id = this.#thread(cursor.thread_id)?.id ?? 0;
      const { agent_id, last_read_seq, last_acked_message_id, updated_at } = cursor;
      const sum = sumOfCursor({ ...cursor, thread: id });
      this.#tallies.replace('cursors', sumIn(this.#sql.getCursor.get(id, agent_id)), sum);
      this.#sql.putCursor.run(id, agent_id, last_read_seq, last_acked_message_id, updated_at, sum);
    }
    for (const { kind, workspace_id, key, mark, owner, value } of records ?? []) {
      const json = JSON.stringify(value);
      const sum = sumOfRecord({ kind, workspace_id, key, mark, owner, json });
      this.#tallies.replace(
        recordTally(kind),
        sumIn(this.#sql.sumOfRecord.get(kind, workspace_id, key)),
        sum,
      );
      this.#sql.putRecord.run(kind, workspace_id, key, mark, owner, json, sum);
    }
    for (const { kind, workspace_id, key } of drops ?? []) {
      const before = sumIn(this.#sql.sumOfRecord.get(kind, workspace_id, key));
      this.#tallies.replace(recordTally(kind), before, undefined);
      this.#sql.dropRecord.run(kind, workspace_id, key);
    }
    return reached;
  }

  #append(state: ThreadState, entries: readonly Entry[]): Reached {
    const { thread_id, last_seq, workspace_id } = state;
    // Both first, since they may find damage: a refused command leaves no trace.
    const known = this.#lookUp(state, entries);
    const pos = this.#grow(workspace_id, entries.length);
    const thread = known ?? this.#addThread(state);
    for (const entry of entries) {
      const sealed = seal(thread.head, entry);
      const replyTo = replyOf(entry);
      this.#sql.addEntry.get(++this.#position, thread.id, entry.seq, replyTo, sealed.hash, sealed.json);
      const ended = thread.runs.add(entry.sender_agent_id, entry.seq);
      if (ended !== undefined) thread.ended.push(ended);
      this.#onEntry(this.#position, thread.id, entry);
      thread.head = sealed.hash;
    }
    thread.state = state;
    this.#touched.add(thread);
    return { thread_id, last_seq, workspace_id, after: pos - entries.length, pos };
  }

  /** Counts entries that are about to be written; where the newest one is of another workspace, a run begins. */
  #grow(workspace_id: string, entries: number): number {
    const head = this.#headsByWorkspace.get(workspace_id) ?? this.#runs.head(workspace_id);
    this.#current ??= this.#sql.lastRun.get()?.workspace_id;
    if (this.#current !== workspace_id) {
      const run = { pos: this.#position + 1, workspace_id, place: head + 1 };
      const sum = sumOfRun(run);
      this.#sql.addRun.get(run.pos, workspace_id, run.place, sum);
      this.#tallies.replace('runs', undefined, sum);
      this.#current = workspace_id;
    }
    if (this.#headsByWorkspace.size >= CACHED_THREADS) this.#headsByWorkspace.clear();
    this.#headsByWorkspace.set(workspace_id, head + entries);
    return head + entries;
  }

  /** What is known of a thread and of those who are about to write there; it may find damage. */
  #lookUp({ thread_id }: ThreadState, entries: readonly Entry[]): CachedThread | undefined {
    const thread = this.#thread(thread_id);
    if (thread === undefined) return undefined;
    const { id, runs } = thread;
    for (const { sender_agent_id: sender } of entries)
      if (sender !== runs.open?.sender && !runs.endedBySender.has(sender))
        runs.endedBySender.set(sender, this.#counts.ended(id, sender));
    return thread;
  }

  #addThread(state: ThreadState): CachedThread {
    const { lastInsertRowid } = this.#sql.addThread.run(state.thread_id, state.workspace_id);
    return this.#remember({
      id: Number(lastInsertRowid),
      state,
      head: CHAIN_START,
      stored: undefined,
      runs: new SenderRuns(),
      storedRun: undefined,
      ended: [],
    });
  }

  /** A thread's head is written once per batch, however many entries the batch gave it; its state when it changed. */
  flush(): void {
    for (const thread of this.#touched) {
      const { id, state, stored, head, runs, storedRun, ended } = thread;
      const { last_seq, updated_at } = state;
      const { speaker, run_seq, run_nth } = runColumns(runs.open);
      const sum = sumOfHead({ thread: id, last_seq, updated_at, hash: head, speaker, run_seq, run_nth });
      if (stored !== undefined && runs.open === storedRun)
        this.#sql.moveHead.get(last_seq, updated_at, head, sum, id);
      else {
        const listed = listedIn(state);
        this.#sql.putHead.get(id, last_seq, updated_at, head, sum, listed, speaker, run_seq, run_nth);
      }
      if (stored === undefined || !sameButForHead(state, stored)) {
        const text = JSON.stringify(state);
        this.#sql.putThread.run(state.status, text, sumOfThread({ ...state, state: text }), id);
        this.#putParticipants(id, state, stored?.participants ?? []);
      }
      for (const run of ended) this.#counts.put(id, run);
      thread.ended = [];
      thread.storedRun = runs.open;
      thread.stored = state;
    }
    this.#touched.clear();
  }

  #putParticipants(id: number, state: ThreadState, stored: readonly string[]): void {
    for (const agent of state.participants) {
      if (!stored.includes(agent)) this.#sql.addParticipant.run(state.workspace_id, agent, id);
    }
    for (const agent of stored) {
      if (!state.participants.includes(agent)) this.#sql.dropParticipant.run(state.workspace_id, agent, id);
    }
  }
}

function sumIn(row: { sum: string } | undefined): string | undefined {
  return row?.sum;
}
