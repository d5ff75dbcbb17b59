import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { CHAIN_START, type Entry, evolve, link, type ThreadState } from '@parley/core';
import { canonicalJson, seqOfMessageId } from '@parley/protocol';

import { createArtifactCheck } from './check-artifacts.ts';
import { createAskCheck } from './check-asks.ts';
import { createTreeCheck } from './check-tree.ts';
import { checkRows } from './check-rows.ts';
import { number } from './number.ts';
import { closeReader } from './open-database.ts';
import { openRecord } from './open-record.ts';
import { DATABASE_FILE } from './open-store.ts';
import type { DatabaseSync } from './sqlite.ts';
import { readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';
import { checkWal } from './wal-check.ts';

/** What a full reading of the record found. */
export interface RecordReport {
  ok: boolean;
  integrity: 'ok' | 'damaged';
  chain: 'ok' | 'broken';
  index: 'ok' | 'differs';
  schema_version: number;
  sqlite_version: string;
  counts: {
    threads: number;
    entries: number;
    messages: number;
    cursors: number;
    sessions: number;
    agents: number;
    asks: number;
    documents: number;
    artifacts: number;
    deliveries: number;
    dead_letters: number;
    idempotency_keys: number;
  };
  problems: string[];
}

const MAX_PROBLEMS = 100;

/** Reads the whole record: SQLite's own check, every hash, every seq, and every state folded anew from the log. */
export function checkRecord(folder: string): RecordReport {
  const path = join(folder, DATABASE_FILE);
  if (!existsSync(path)) return emptyReport();
  const problems: string[] = [];
  try {
    checkWal(path);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  let db: DatabaseSync | undefined;
  try {
    db = openRecord(folder);
    db.exec('BEGIN');
    const damaged = (db.prepare('PRAGMA integrity_check(20)').all() as Record<string, unknown>[])
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== 'ok');
    const integrity = damaged.length > 0 || problems.length > 0 ? 'damaged' : 'ok';
    const { chain, index } = checkThreads(db);
    index.push(...checkRows(db));
    problems.push(...damaged, ...chain, ...index);
    return {
      ok: problems.length === 0,
      integrity,
      chain: chain.length === 0 ? 'ok' : 'broken',
      index: index.length === 0 ? 'ok' : 'differs',
      schema_version: number(db, 'PRAGMA user_version'),
      sqlite_version: (db.prepare('SELECT sqlite_version() AS v').get() as { v: string }).v,
      counts: count(db),
      problems: problems.slice(0, MAX_PROBLEMS),
    };
  } catch (error) {
    const said = `the record cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return { ...emptyReport(), ok: false, integrity: 'damaged', problems: [...problems, said] };
  } finally {
    if (db !== undefined) closeReader(db);
  }
}

function checkThreads(db: DatabaseSync): { chain: string[]; index: string[] } {
  const chain: string[] = [];
  const index: string[] = [];
  const entries = db.prepare('SELECT seq, reply_to, hash, json FROM entries WHERE thread = ? ORDER BY seq');
  const threads = db.prepare(
    `SELECT ${THREAD_COLUMNS} FROM threads t LEFT JOIN heads h ON h.thread = t.id ORDER BY t.id`,
  );
  const asks = createAskCheck(db);
  const trees = createTreeCheck(db);
  const artifacts = createArtifactCheck(db);
  for (const row of threads.iterate() as unknown as Iterable<ThreadRecord>) {
    let head = CHAIN_START;
    let seq = 0;
    let state: ThreadState | undefined;
    for (const entry of entries.iterate(row.id) as Iterable<{
      seq: number;
      reply_to: number | null;
      hash: string;
      json: string;
    }>) {
      if (entry.seq !== seq || link(head, entry.json) !== entry.hash) {
        chain.push(
          `${row.thread_id}: the chain breaks at seq ${seq}${entry.seq === seq ? '' : ` (found ${entry.seq})`}`,
        );
        break;
      }
      const parsed = JSON.parse(entry.json) as Entry;
      const replyTo = parsed.in_reply_to === undefined ? null : (seqOfMessageId(parsed.in_reply_to) ?? null);
      if (entry.reply_to !== replyTo)
        index.push(`${row.thread_id}: seq ${seq} is indexed as a reply to another`);
      state = evolve(state, parsed);
      asks.see(row.workspace_id, parsed);
      if (state.tree === true) {
        trees.see(row.workspace_id, parsed);
        index.push(...artifacts.see(row.workspace_id, parsed));
      }
      head = entry.hash;
      seq++;
    }
    const told = [...asks.endOfThread(), ...trees.endOfThread()];
    // A log that breaks off tells nothing of what its asks and documents became.
    if (head === row.hash) index.push(...told);
    else chain.push(`${row.thread_id}: the log ends at seq ${seq - 1}, the thread was at ${row.last_seq}`);
    if (state !== undefined && canonicalJson(state) !== canonicalJson(parseState(row))) {
      index.push(`${row.thread_id}: the state folded from the log differs from the live one`);
    }
  }
  const orphans = number(db, 'SELECT count(*) FROM entries WHERE thread NOT IN (SELECT id FROM threads)');
  index.push(...asks.unheard(), ...trees.unheard(), ...artifacts.unheard());
  const [last, all] = [
    number(db, 'SELECT max(pos) FROM entries'),
    number(db, 'SELECT count(*) FROM entries'),
  ];
  if (last !== all) chain.push(`the log has ${all} entries, and its last position is ${last}`);
  if (orphans > 0) chain.push(`${orphans} entries belong to no thread`);
  return { chain, index };
}

function parseState(row: ThreadRecord): unknown {
  try {
    return readThread(row).state;
  } catch {
    return undefined;
  }
}

function count(db: DatabaseSync): RecordReport['counts'] {
  return {
    threads: number(db, 'SELECT count(*) FROM threads'),
    entries: number(db, 'SELECT count(*) FROM entries'),
    messages: number(db, 'SELECT count(*) FROM entries WHERE seq > 0'),
    cursors: number(db, 'SELECT count(*) FROM cursors'),
    sessions: number(db, "SELECT count(*) FROM records WHERE kind = 'session'"),
    agents: number(db, "SELECT count(*) FROM records WHERE kind = 'agent'"),
    asks: number(db, "SELECT count(*) FROM records WHERE kind = 'ask'"),
    documents: number(db, "SELECT count(*) FROM records WHERE kind = 'document' AND mark <> 'purged'"),
    artifacts: number(db, "SELECT count(*) FROM records WHERE kind = 'artifact'"),
    deliveries: number(db, "SELECT count(*) FROM records WHERE kind = 'delivery'"),
    dead_letters: number(db, "SELECT count(*) FROM records WHERE kind = 'delivery' AND mark = 'dead'"),
    idempotency_keys: number(db, 'SELECT count(*) FROM idempotency'),
  };
}

function emptyReport(): RecordReport {
  return {
    ok: true,
    integrity: 'ok',
    chain: 'ok',
    index: 'ok',
    schema_version: 0,
    sqlite_version: '',
    counts: {
      threads: 0,
      entries: 0,
      messages: 0,
      cursors: 0,
      sessions: 0,
      agents: 0,
      asks: 0,
      documents: 0,
      artifacts: 0,
      deliveries: 0,
      dead_letters: 0,
      idempotency_keys: 0,
    },
    problems: [],
  };
}
