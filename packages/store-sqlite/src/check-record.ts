import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { ThreadState } from '@parley/core';
import { canonicalJson } from '@parley/protocol';

import { checkIntegrity } from './check-integrity.ts';
import {
  createDerivedCheck,
  DERIVED_AND_TEXTS,
  emptyReport,
  type LiveRecord,
  type RecordName,
  type Reached,
  type RecordReport,
} from '@parley/store-rows';

import { doubtfulThreads, threadsOfLog } from './doubtful-threads.ts';
import { findDoubts, problemsOf } from './find-doubts.ts';
import { createThreadReader } from './fold-thread.ts';
import { number } from './number.ts';
import { closeReader } from './open-database.ts';
import { openRecord } from './open-record.ts';
import { DATABASE_FILE } from './open-store.ts';
import { createSenderCounts } from './sender-counts.ts';
import { changedIndexes } from './schema-parts.ts';
import { MIGRATIONS } from './sql/migrations.ts';
import { type DatabaseSync, oneRow, rowsOf } from './sqlite.ts';
import { readThread, threadColumns, type ThreadRecord } from './thread-record.ts';
import { checkWal } from './wal-check.ts';

const MAX_PROBLEMS = 100;

/** Reads the whole record: SQLite's own check, every hash, every seq, and every state folded anew from the log. */
export function checkRecord(folder: string, reached?: Reached): RecordReport {
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
    const { damage, index: ofIndex } = checkIntegrity(db, 20);
    problems.push(...damage);
    const first: RecordReport['first'] = { integrity: problems[0] };
    const schema_version = number(db, 'PRAGMA user_version');
    const { chain, index } = checkThreads(db, schema_version === MIGRATIONS.length, reached);
    // An older form is brought up to date by the next start, which then looks for itself.
    if (schema_version === MIGRATIONS.length) {
      const doubts = findDoubts(db, { all: true });
      chain.push(...doubts.log);
      const changed = changedIndexes(db).map((name) => `${name}: the index is not as it was made`);
      index.push(...ofIndex, ...changed, ...problemsOf(doubts));
    } else for (const { problem, isLost } of doubtfulThreads(db)) (isLost ? chain : index).push(problem);
    [first.chain] = chain;
    [first.index] = index;
    problems.push(...chain, ...index);
    return {
      ok: problems.length === 0,
      integrity: first.integrity === undefined ? 'ok' : 'damaged',
      chain: first.chain === undefined ? 'ok' : 'broken',
      index: first.index === undefined ? 'ok' : 'differs',
      first,
      schema_version,
      sqlite_version: oneRow(db.prepare<{ v: string }>('SELECT sqlite_version() AS v').get()).v,
      counts: count(db),
      problems: problems.slice(0, MAX_PROBLEMS),
    };
  } catch (error) {
    const said = `the record cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    const integrity = problems[0] ?? said;
    return {
      ...emptyReport(),
      ok: false,
      integrity: 'damaged',
      problems: [...problems, said],
      first: { integrity },
    };
  } finally {
    if (db !== undefined) closeReader(db);
  }
}

function checkThreads(
  db: DatabaseSync,
  isCurrent: boolean,
  reached?: Reached,
): { chain: string[]; index: string[] } {
  const chain: string[] = [];
  const index: string[] = [];
  const every = number(db, 'SELECT count(*) FROM entries');
  let done = 0;
  const read = createThreadReader(db, isCurrent ? createSenderCounts(db) : undefined, () =>
    reached?.(++done, every),
  );
  const get = db.prepare<LiveRecord>(
    'SELECT mark, owner, json FROM records WHERE kind = ? AND workspace_id = ? AND key = ?',
  );
  const derived = createDerivedCheck((kind, workspaceId, key) => get.get(kind, workspaceId, key));
  const live = db.prepare<ThreadRecord>(
    `SELECT ${threadColumns(db)} FROM threads t LEFT JOIN heads h ON h.thread = t.id WHERE t.id = ?`,
  );
  for (const id of threadsOfLog(db)) {
    const row = live.get(id);
    const { fold, broken, misfiled, misnumbered } = read(id);
    const name = row?.thread_id ?? fold.state?.thread_id ?? `thread ${id}`;
    if (broken !== undefined) chain.push(`${name}: ${broken}`);
    for (const { seq } of misfiled) index.push(`${name}: seq ${seq} is indexed as a reply to another`);
    for (const seq of misnumbered)
      index.push(`${name}: seq ${seq} is not counted as it is among those of its sender`);
    index.push(...derived.compare(fold.records(), broken !== undefined));
    const state = row === undefined ? undefined : soundState(row);
    if (state !== undefined && broken === undefined && canonicalJson(fold.state) !== canonicalJson(state))
      index.push(`${name}: the state folded from the log differs from the live one`);
  }
  const kinds = DERIVED_AND_TEXTS.map((kind) => `'${kind}'`).join();
  const kept = db.prepare(`SELECT kind, workspace_id, key FROM records WHERE kind IN (${kinds})`);
  // The statement names the columns.
  index.push(...derived.unexplained(rowsOf(kept) as Iterable<RecordName>));
  const [last, all] = [
    number(db, 'SELECT max(pos) FROM entries'),
    number(db, 'SELECT count(*) FROM entries'),
  ];
  if (last !== all) chain.push(`the log has ${all} entries, and its last position is ${last}`);
  return { chain, index };
}

function soundState(row: ThreadRecord): ThreadState | undefined {
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
