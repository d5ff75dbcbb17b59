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
  seal,
  type ThreadState,
} from '@parley/core';
import { decide, type IdempotencyRecord, needs, replay } from '@parley/core/rules';
import { type Cursor, ParleyError, seqOfMessageId } from '@parley/protocol';

import { number } from './number.ts';
import { assertDurable } from './open-database.ts';
import {
  type CursorColumns,
  damaged,
  rowSum,
  sumOfCursor,
  sumOfThread,
  type ThreadColumns,
} from './row-sum.ts';
import { SearchIndex } from './search-index.ts';
import { type DatabaseSync, sqliteCode, SQLITE_FULL, type StatementSync } from './sqlite.ts';
import type { Notice, Reply } from './thread-protocol.ts';

interface CachedThread {
  id: number;
  state: ThreadState;
  head: string;
  dirty: boolean;
  /** Participants as the table has them; rewritten when the state names others. */
  participants: readonly string[];
}

const CACHED_THREADS = 2_000;

/** Runs batches of commands, one transaction each, by the rules of the core; lives in the writer's thread. */
export class Writer {
  readonly #db: DatabaseSync;
  readonly #sql: Statements;
  readonly #search: SearchIndex;
  readonly #threads = new Map<string, CachedThread>();
  readonly #workspaces = new Set<string>();
  #position: number;
  #asserted = false;
  #failure: string | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sql = prepareStatements(db);
    this.#search = new SearchIndex(db);
    this.#position = number(db, 'SELECT max(pos) FROM entries');
  }

  /** All commands of a batch become durable together; a refused one leaves no trace and harms no other. */
  run(commands: readonly Command[]): Reply[] {
    if (this.#failure !== undefined) return commands.map(() => failed(this.#failure ?? ''));
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      const replies = commands.map((command) => this.#attempt(command));
      this.#flushThreads();
      this.#db.exec('COMMIT');
      if (!this.#asserted) this.#assertOnce();
      return replies;
    } catch (error) {
      const reply = this.#abandon(error);
      return commands.map(() => reply);
    }
  }

  /** Does a little of what can wait; says whether there is more of it, or what went wrong. */
  idle(now: number, windowMs: number): { more: boolean; notice?: Notice } {
    if (this.#failure !== undefined) return { more: false };
    try {
      const purged = this.#sql.purgeKeys.run(now - windowMs).changes;
      const { more, damaged: positions } = this.#search.step();
      return {
        more: more || purged > 0,
        ...(positions.length === 0
          ? {}
          : { notice: { fault: `damaged entries at positions ${positions.join(', ')}`, fatal: false } }),
      };
    } catch (error) {
      const { fault, fatal } = this.#abandon(error);
      return { more: false, notice: { fault: fault ?? '', fatal: fatal === true } };
    }
  }

  /** Folds the WAL into the one file, where nobody reads it and no fault forbids it, and lets go of both. */
  close(): void {
    try {
      if (this.#failure === undefined)
        this.#db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#db.close();
    }
  }

  #assertOnce(): void {
    assertDurable(this.#db);
    this.#asserted = true;
  }

  #attempt(command: Command): Reply {
    try {
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

  #transact(command: Command): Committed {
    const { idempotency, caller } = command;
    const digest =
      idempotency === undefined
        ? undefined
        : hash('sha256', JSON.stringify([idempotency.scope, caller.agent_id, idempotency.key]), 'base64url');
    if (idempotency !== undefined && digest !== undefined) {
      const result = replay(this.#record(digest), idempotency);
      if (result !== undefined) return { result, replayed: true };
    }
    const decision = decide(this.#load(command), command);
    this.#apply(decision);
    const { thread, result } = decision;
    if (idempotency !== undefined && digest !== undefined) {
      this.#sql.dropKey.run(digest);
      const { fingerprint } = idempotency;
      const text = JSON.stringify(result);
      const sum = rowSum(digest, fingerprint, command.now, text);
      this.#sql.addKey.run(digest, fingerprint, command.now, text, sum);
    }
    return thread === undefined
      ? { result, replayed: false }
      : { result, replayed: false, thread_id: thread.thread_id, last_seq: thread.last_seq };
  }

  #record(digest: string): IdempotencyRecord | undefined {
    const row = this.#sql.getKey.get(digest) as
      | { fingerprint: string; at: number; result: string; sum: string }
      | undefined;
    if (row === undefined) return undefined;
    const { fingerprint, at, result, sum } = row;
    if (rowSum(digest, fingerprint, at, result) !== sum) throw damaged(`the idempotency key ${digest}`);
    return { fingerprint, at, result: JSON.parse(result) as Record<string, unknown> };
  }

  #load(command: Command): Loaded {
    const { thread, entry_seq, cursor } = needs(command);
    if (thread === undefined)
      return { located: { thread: undefined, foreign: false }, entry: undefined, cursor: undefined };
    const cached = this.#thread(thread);
    const located: Located =
      cached === undefined ? this.#missing(command.caller.workspace_id) : { thread: cached.state };
    if (cached === undefined) return { located, entry: undefined, cursor: undefined };
    return {
      located,
      entry: entry_seq === undefined ? undefined : this.#entry(cached, entry_seq),
      cursor: cursor === true ? this.#cursor(cached, command.caller.agent_id) : undefined,
    };
  }

  #thread(threadId: string): CachedThread | undefined {
    const cached = this.#threads.get(threadId);
    if (cached !== undefined) return cached;
    const row = this.#sql.getThread.get(threadId) as
      | (ThreadColumns & { id: number; sum: string })
      | undefined;
    if (row === undefined) return undefined;
    if (sumOfThread(row) !== row.sum) throw damaged(`the state of ${threadId}`, { thread_id: threadId });
    const state = JSON.parse(row.state) as ThreadState;
    return this.#remember({
      id: row.id,
      state,
      head: row.head,
      dirty: false,
      participants: state.participants,
    });
  }

  #remember(thread: CachedThread): CachedThread {
    if (this.#threads.size >= CACHED_THREADS) {
      for (const [id, { dirty }] of this.#threads) {
        if (dirty) continue;
        this.#threads.delete(id);
        break;
      }
    }
    this.#threads.set(thread.state.thread_id, thread);
    return thread;
  }

  #missing(workspaceId: string): Located {
    if (!this.#workspaces.has(workspaceId) && this.#sql.anyThreadOf.get(workspaceId) !== undefined)
      this.#workspaces.add(workspaceId);
    return {
      thread: undefined,
      foreign: isForeign(this.#workspaces.has(workspaceId), this.#sql.anyThread.get() !== undefined),
    };
  }

  #entry({ id, state: { thread_id } }: CachedThread, seq: number): Entry | undefined {
    const row = this.#sql.getEntry.get(id, seq) as { hash: string; json: string } | undefined;
    if (row === undefined) return undefined;
    const before = this.#sql.getEntry.get(id, seq - 1) as { hash: string } | undefined;
    if (link(before?.hash ?? CHAIN_START, row.json) !== row.hash)
      throw damaged(`${thread_id} at seq ${seq}`, { thread_id, seq });
    return JSON.parse(row.json) as Entry;
  }

  #cursor(thread: CachedThread, agentId: string): Cursor | undefined {
    const row = this.#sql.getCursor.get(thread.id, agentId) as (CursorColumns & { sum: string }) | undefined;
    if (row === undefined) return undefined;
    const { thread_id } = thread.state;
    if (sumOfCursor(row) !== row.sum)
      throw damaged(`the cursor of ${agentId} in ${thread_id}`, { thread_id });
    const { last_read_seq, last_acked_message_id, updated_at } = row;
    return { thread_id, agent_id: agentId, last_read_seq, last_acked_message_id, updated_at };
  }

  #apply({ entries, thread, cursor, session }: Decision): void {
    if (thread !== undefined) this.#append(thread, entries);
    if (cursor !== undefined) {
      const { id = 0 } = this.#threads.get(cursor.thread_id) ?? {};
      const { agent_id, last_read_seq, last_acked_message_id, updated_at } = cursor;
      const sum = sumOfCursor({ ...cursor, thread: id });
      this.#sql.putCursor.run(id, agent_id, last_read_seq, last_acked_message_id, updated_at, sum);
    }
    if (session !== undefined) {
      const row = [
        session.workspace_id,
        session.agent_id,
        session.session_id,
        JSON.stringify(session),
      ] as const;
      this.#sql.putSession.run(...row, rowSum(...row));
    }
  }

  #append(state: ThreadState, entries: readonly Entry[]): void {
    const thread = this.#threads.get(state.thread_id) ?? this.#addThread(state);
    for (const entry of entries) {
      const sealed = seal(thread.head, entry);
      const replyTo = entry.in_reply_to === undefined ? null : (seqOfMessageId(entry.in_reply_to) ?? null);
      this.#sql.addEntry.run(++this.#position, thread.id, entry.seq, replyTo, sealed.hash, sealed.json);
      thread.head = sealed.hash;
    }
    thread.state = state;
    thread.dirty = true;
  }

  #addThread(state: ThreadState): CachedThread {
    const { lastInsertRowid } = this.#sql.addThread.run(state.thread_id, state.workspace_id);
    return this.#remember({
      id: Number(lastInsertRowid),
      state,
      head: CHAIN_START,
      dirty: true,
      participants: [],
    });
  }

  /** A thread's state is written once per batch, however many entries the batch gave it. */
  #flushThreads(): void {
    for (const thread of this.#threads.values()) {
      if (!thread.dirty) continue;
      const { state, head } = thread;
      const { status, updated_at, last_seq } = state;
      const text = JSON.stringify(state);
      const sum = sumOfThread({ ...state, head, state: text });
      this.#sql.putThread.run(status, updated_at, last_seq, head, text, sum, thread.id);
      for (const agent of state.participants) {
        if (!thread.participants.includes(agent))
          this.#sql.addParticipant.run(state.workspace_id, agent, thread.id);
      }
      for (const agent of thread.participants) {
        if (!state.participants.includes(agent))
          this.#sql.dropParticipant.run(state.workspace_id, agent, thread.id);
      }
      thread.participants = state.participants;
      thread.dirty = false;
    }
  }

  /** A full disk is waited out; after any other storage error nothing is acknowledged until a restart. */
  #abandon(error: unknown): Reply {
    this.#threads.clear();
    try {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#position = number(this.#db, 'SELECT max(pos) FROM entries');
    } catch (second) {
      this.#failure = String(second);
    }
    const message = error instanceof Error ? error.message : String(error);
    const full = sqliteCode(error) === SQLITE_FULL;
    if (!full) this.#failure ??= message;
    return full
      ? {
          error: {
            code: 'UNAVAILABLE',
            message: 'the disk is full; nothing was written',
            details: { retry_after_ms: 1_000 },
          },
          fault: message,
        }
      : failed(message);
  }
}

function failed(message: string): Reply {
  return {
    error: {
      code: 'UNAVAILABLE',
      message:
        'the store has failed and takes no more writes; restart the hub, then retry with the same idempotency_key',
    },
    fault: message,
    fatal: true,
  };
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: DatabaseSync) {
  const prepare = (sql: string): StatementSync => db.prepare(sql);
  return {
    getThread: prepare('SELECT * FROM threads WHERE thread_id = ?'),
    anyThread: prepare('SELECT 1 FROM threads LIMIT 1'),
    anyThreadOf: prepare('SELECT 1 FROM threads WHERE workspace_id = ? LIMIT 1'),
    addThread: prepare(
      "INSERT INTO threads (thread_id, workspace_id, status, updated_at, last_seq, head, state, sum) VALUES (?, ?, '', '', 0, '', '', '')",
    ),
    putThread: prepare(
      'UPDATE threads SET status = ?, updated_at = ?, last_seq = ?, head = ?, state = ?, sum = ? WHERE id = ?',
    ),
    addParticipant: prepare(
      'INSERT OR IGNORE INTO participants (workspace_id, agent_id, thread) VALUES (?, ?, ?)',
    ),
    dropParticipant: prepare(
      'DELETE FROM participants WHERE workspace_id = ? AND agent_id = ? AND thread = ?',
    ),
    getEntry: prepare('SELECT hash, json FROM entries WHERE thread = ? AND seq = ?'),
    addEntry: prepare(
      'INSERT INTO entries (pos, thread, seq, reply_to, hash, json) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    getCursor: prepare('SELECT * FROM cursors WHERE thread = ? AND agent_id = ?'),
    putCursor: prepare(
      'INSERT OR REPLACE INTO cursors (thread, agent_id, last_read_seq, last_acked_message_id, updated_at, sum) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    putSession: prepare(
      'INSERT OR REPLACE INTO sessions (workspace_id, agent_id, session_id, json, sum) VALUES (?, ?, ?, ?, ?)',
    ),
    getKey: prepare('SELECT fingerprint, at, result, sum FROM idempotency WHERE digest = ?'),
    dropKey: prepare('DELETE FROM idempotency WHERE digest = ?'),
    addKey: prepare('INSERT INTO idempotency (digest, fingerprint, at, result, sum) VALUES (?, ?, ?, ?, ?)'),
    purgeKeys: prepare(
      'DELETE FROM idempotency WHERE id IN (SELECT id FROM (SELECT id, at FROM idempotency ORDER BY id LIMIT 500) WHERE at < ?)',
    ),
  };
}
