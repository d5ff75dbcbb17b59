import { type Cursor, seqOfMessageId } from '@parley/protocol';
import { type Entry, JOURNAL_PREFIX, type PutRecord, type RecordKind, type ThreadState } from '@parley/core';
import type { IdempotencyRecord } from '@parley/core/rules';
import { damaged, packAnswer, rowSum, sumOfRecord, sumOfThread } from '@parley/store-rows';

import { momentsOf } from './list-records.ts';
import { cursorName, sumOfCount, sumOfCursor, sumOfEntry, sumOfHead } from './rows.ts';
import { type Ask, sql } from './sql.ts';
import { tokensOf } from './tokens.ts';

/** A thread as the commands of one transaction have left it. */
export interface LoadedThread {
  state: ThreadState;
  /** Hash of the newest entry. */
  head: string;
  born: number;
  /** The state as the table has it. */
  stored: ThreadState | undefined;
}

/** Somebody who writes to a thread. */
export interface SenderPlace {
  thread_id: string;
  sender: string;
}

interface NewEntry {
  thread_id: string;
  workspace_id: string;
  pos: number;
  entry: Entry;
  hash: string;
  json: string;
}

type Put = { record: PutRecord } | { gone: true };

/** What the commands of one transaction are to leave, sent in one piece at its end. */
export class PendingWrites {
  readonly #ask: Ask;
  readonly added: NewEntry[] = [];
  readonly touched = new Set<LoadedThread>();
  readonly cursors = new Map<string, Cursor>();
  readonly records = new Map<string, Put & { kind: RecordKind; workspace_id: string; key: string }>();
  readonly keys = new Map<string, IdempotencyRecord & { workspace_id?: string }>();
  /** How many entries senders have in threads, as far as it is known. */
  readonly #nths = new Map<string, number>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Looks up what the writes need and is not known yet, which is seldom. */
  async complete(): Promise<void> {
    await this.loadNumbers(this.#senders());
  }

  /** Sends everything that is to be written, at once; it must be complete. */
  async flush(counts: ReadonlyMap<string, number>): Promise<void> {
    await Promise.all([
      this.#flushThreads(),
      ...(this.added.length === 0 ? [] : this.#flushEntries(counts)),
      this.#flushCursors(),
      this.flushRecords(),
      this.#flushKeys(),
    ]);
  }

  /** Who has written to threads that were there before. */
  #senders(): SenderPlace[] {
    const known = new Set(
      [...this.touched].flatMap(({ state, stored }) => (stored === undefined ? [] : [state.thread_id])),
    );
    // In a thread that begins now nobody has any.
    return this.added.flatMap(({ thread_id, entry }) =>
      known.has(thread_id) ? [{ thread_id, sender: entry.sender_agent_id }] : [],
    );
  }

  /** Looks how many entries senders have in threads, of those of whom it is not known. */
  async loadNumbers(places: readonly SenderPlace[]): Promise<void> {
    const wanted = new Map(places.map((place) => [cursorName(place.thread_id, place.sender), place]));
    for (const name of this.#nths.keys()) wanted.delete(name);
    if (wanted.size === 0) return;
    const old = [...wanted.values()];
    const rows = await this.#ask<{
      thread_id: string;
      sender: string;
      seq: number;
      workspace_id: string;
      pos: number;
      nth: number;
      sum: string;
    }>(sql`
      SELECT e.* FROM unnest(${old.map((one) => one.thread_id)}::text[], ${old.map((one) => one.sender)}::text[]) AS u (thread, sender)
      CROSS JOIN LATERAL (SELECT thread_id, sender, seq, workspace_id, pos, nth, sum FROM entries
        WHERE thread_id = u.thread AND entries.sender = u.sender ORDER BY seq DESC LIMIT 1) e`);
    for (const name of wanted.keys()) this.#nths.set(name, 0);
    for (const row of rows) {
      if (sumOfEntry(row) !== row.sum) throw damaged(`the number of ${row.sender}’s entry ${row.seq}`);
      this.#nths.set(cursorName(row.thread_id, row.sender), row.nth);
    }
  }

  #flushEntries(heads: ReadonlyMap<string, number>): Promise<unknown>[] {
    const rows = this.added.map(({ thread_id, workspace_id, pos, entry, hash: sealed, json }) => {
      const sender = entry.sender_agent_id;
      const name = cursorName(thread_id, sender);
      const nth = (this.#nths.get(name) ?? 0) + 1;
      this.#nths.set(name, nth);
      const reply = entry.in_reply_to === undefined ? null : (seqOfMessageId(entry.in_reply_to) ?? null);
      return {
        thread_id,
        seq: entry.seq,
        workspace_id,
        pos,
        reply_to: reply,
        sender,
        nth,
        hash: sealed,
        json,
        sum: sumOfEntry({ workspace_id, pos, sender, nth }),
      };
    });
    const column = <K extends keyof (typeof rows)[number]>(key: K) => rows.map((row) => row[key]);
    const counts = [...new Set(column('workspace_id'))].map((id) => ({ id, pos: heads.get(id) ?? 0 }));
    const messages = this.added.filter(({ entry }) => entry.seq > 0);
    return [
      this.#ask(sql`INSERT INTO entries (thread_id, seq, workspace_id, pos, reply_to, sender, nth, hash, json, sum)
         SELECT * FROM unnest(${column('thread_id')}::text[], ${column('seq')}::int[], ${column('workspace_id')}::text[],
           ${column('pos')}::bigint[], ${column('reply_to')}::int[], ${column('sender')}::text[], ${column('nth')}::int[],
           ${column('hash')}::text[], ${column('json')}::text[], ${column('sum')}::text[])`),
      this.#ask(sql`INSERT INTO words SELECT u.workspace, u.pos, u.thread, u.seq, u.tokens::tsvector
         FROM unnest(${messages.map((one) => one.workspace_id)}::text[], ${messages.map(({ pos }) => pos)}::bigint[],
           ${messages.map((one) => one.thread_id)}::text[], ${messages.map(({ entry }) => entry.seq)}::int[],
           ${messages.map((one) => tokensOf(one.workspace_id, one.entry.body))}::text[]) AS u (workspace, pos, thread, seq, tokens)`),
      this.#ask(sql`UPDATE workspaces w SET pos = u.pos, sum = u.sum
         FROM unnest(${counts.map(({ id }) => id)}::text[], ${counts.map(({ pos }) => pos)}::bigint[],
           ${counts.map(({ id, pos }) => sumOfCount(id, pos))}::text[]) AS u (id, pos, sum) WHERE w.workspace_id = u.id`),
    ];
  }

  async #flushThreads(): Promise<void> {
    if (this.touched.size === 0) return;
    const all = [...this.touched].map(({ state, head, born, stored }) => {
      const { thread_id, workspace_id, status, last_seq, updated_at, side_of = null } = state;
      const text = JSON.stringify(state);
      const row = {
        thread_id,
        workspace_id,
        born,
        status,
        state: text,
        sum: '',
        side_of,
        listed_in: thread_id.startsWith(JOURNAL_PREFIX) ? null : workspace_id,
        last_seq,
        updated_at,
        hash: head,
      };
      row.sum = sumOfThread(row);
      return {
        ...row,
        head_sum: sumOfHead(row),
        joins: state.participants,
        before: stored?.participants ?? [],
      };
    });
    const column = <K extends keyof (typeof all)[number]>(key: K) => all.map((row) => row[key]);
    const joining = all.flatMap(({ joins, before, thread_id, workspace_id }) =>
      joins.filter((one) => !before.includes(one)).map((agent) => ({ agent, thread_id, workspace_id })),
    );
    const leaving = all.flatMap(({ joins, before, thread_id, workspace_id }) =>
      before.filter((one) => !joins.includes(one)).map((agent) => ({ agent, thread_id, workspace_id })),
    );
    const pairs = (some: typeof joining) =>
      sql`unnest(${some.map((one) => one.workspace_id)}::text[], ${some.map(({ agent }) => agent)}::text[], ${some.map((one) => one.thread_id)}::text[])`;
    await Promise.all([
      this.#ask(sql`INSERT INTO threads (thread_id, workspace_id, born, status, state, sum, side_of, listed_in, last_seq, updated_at, hash, head_sum)
         SELECT * FROM unnest(${column('thread_id')}::text[], ${column('workspace_id')}::text[], ${column('born')}::bigint[],
           ${column('status')}::text[], ${column('state')}::text[], ${column('sum')}::text[], ${column('side_of')}::text[],
           ${column('listed_in')}::text[], ${column('last_seq')}::int[], ${column('updated_at')}::text[], ${column('hash')}::text[], ${column('head_sum')}::text[])
         ON CONFLICT (thread_id) DO UPDATE SET status = excluded.status, state = excluded.state, sum = excluded.sum,
           last_seq = excluded.last_seq, updated_at = excluded.updated_at, hash = excluded.hash, head_sum = excluded.head_sum`),
      ...(joining.length === 0
        ? []
        : [this.#ask(sql`INSERT INTO participants SELECT * FROM ${pairs(joining)} ON CONFLICT DO NOTHING`)]),
      ...(leaving.length === 0
        ? []
        : [
            this.#ask(
              sql`DELETE FROM participants p USING ${pairs(leaving)} AS u (w, a, t) WHERE (p.workspace_id, p.agent_id, p.thread_id) = (u.w, u.a, u.t)`,
            ),
          ]),
    ]);
  }

  async #flushCursors(): Promise<void> {
    if (this.cursors.size === 0) return;
    const all = [...this.cursors.values()].map((one) => ({ ...one, sum: sumOfCursor(one) }));
    const column = <K extends keyof (typeof all)[number]>(key: K) => all.map((row) => row[key]);
    await this.#ask(sql`INSERT INTO cursors (thread_id, agent_id, last_read_seq, last_acked_message_id, updated_at, sum, workspace_id)
      SELECT u.*, t.workspace_id FROM unnest(${column('thread_id')}::text[], ${column('agent_id')}::text[], ${column('last_read_seq')}::int[],
        ${column('last_acked_message_id')}::text[], ${column('updated_at')}::text[], ${column('sum')}::text[])
        AS u (thread, agent, seq, message, at, sum) JOIN threads t ON t.thread_id = u.thread
      ON CONFLICT (thread_id, agent_id) DO UPDATE SET last_read_seq = excluded.last_read_seq,
        last_acked_message_id = excluded.last_acked_message_id, updated_at = excluded.updated_at, sum = excluded.sum`);
  }

  async flushRecords(): Promise<void> {
    if (this.records.size === 0) return;
    const all = [...this.records.values()];
    this.records.clear();
    const gone = all.filter((one) => 'gone' in one);
    const put = all.flatMap((one) => {
      if (!('record' in one)) return [];
      const { kind, workspace_id, key, mark, owner, value } = one.record;
      const row = { kind, workspace_id, key, mark, owner, json: JSON.stringify(value) };
      return [{ ...row, sum: sumOfRecord(row), ...momentsOf(kind, value) }];
    });
    const column = <K extends keyof (typeof put)[number]>(key: K) => put.map((row) => row[key]);
    await Promise.all([
      ...(gone.length === 0
        ? []
        : [
            this.#ask(sql`DELETE FROM records r USING unnest(${gone.map(({ kind }) => kind)}::text[], ${gone.map((one) => one.workspace_id)}::text[],
              ${gone.map(({ key }) => key)}::text[]) AS u (k, w, n) WHERE (r.kind, r.workspace_id, r.key) = (u.k, u.w, u.n)`),
          ]),
      ...(put.length === 0
        ? []
        : [
            this.#ask(sql`INSERT INTO records (kind, workspace_id, key, mark, owner, json, sum, due_at, due_ms, delete_at, heard_at)
               SELECT * FROM unnest(${column('kind')}::text[], ${column('workspace_id')}::text[], ${column('key')}::text[],
                 ${column('mark')}::text[], ${column('owner')}::text[], ${column('json')}::text[], ${column('sum')}::text[],
                 ${column('due_at')}::text[], ${column('due_ms')}::float8[], ${column('delete_at')}::text[], ${column('heard_at')}::text[])
               ON CONFLICT (kind, workspace_id, key) DO UPDATE SET mark = excluded.mark, owner = excluded.owner, json = excluded.json,
                 sum = excluded.sum, due_at = excluded.due_at, due_ms = excluded.due_ms, delete_at = excluded.delete_at, heard_at = excluded.heard_at`),
          ]),
    ]);
  }

  async #flushKeys(): Promise<void> {
    if (this.keys.size === 0) return;
    const all = [...this.keys].map(([name, { fingerprint: print, at, result, workspace_id = null }]) => {
      const text = packAnswer(result);
      return { name, print, at, text, sum: rowSum(name, print, at, text), workspace_id };
    });
    const column = <K extends keyof (typeof all)[number]>(key: K) => all.map((row) => row[key]);
    await this.#ask(sql`INSERT INTO idempotency (name, fingerprint, at, result, sum, workspace_id)
      SELECT * FROM unnest(${column('name')}::text[], ${column('print')}::text[], ${column('at')}::bigint[],
        ${column('text')}::text[], ${column('sum')}::text[], ${column('workspace_id')}::text[])
      ON CONFLICT (name) DO UPDATE SET workspace_id = excluded.workspace_id, fingerprint = excluded.fingerprint, at = excluded.at, result = excluded.result, sum = excluded.sum`);
  }
}
