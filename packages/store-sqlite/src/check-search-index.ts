import { CHAIN_START, link, readEntry } from '@parley/core';

import { AskedWords, quoted } from './asked-words.ts';
import { number } from './number.ts';
import { followerPosition } from './search-index.ts';
import { mark, rowsOf } from './search-marks.ts';
import type { DatabaseSync } from './sqlite.ts';
import { Tallies } from './tallies.ts';
import { readThread, THREAD_COLUMNS, type ThreadRecord } from './thread-record.ts';

/** How many messages are looked for in the index: at a start, and where one looks at everything. */
const FEW = 64;
const MANY = 1_000;
/** How much of a message is looked for. */
const LOOKED_AT = 1_000;

interface Sample extends ThreadRecord {
  pos: number;
  entry_hash: string;
  json: string;
  before: string | null;
  space: number | null;
}

/** What is wrong with the index of words: its place and its rows are counted, and some messages are looked for in it. */
export function checkSearchIndex(db: DatabaseSync, all: boolean): string | undefined {
  try {
    const problem = countProblem(db) ?? missedProblem(db, all);
    return problem === undefined ? undefined : `the index of words ${problem}`;
  } catch (error) {
    return `the index of words cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function countProblem(db: DatabaseSync): string | undefined {
  const place = followerPosition(db);
  if (place === undefined) return 'does not know its place in the log';
  if (place > number(db, 'SELECT max(pos) FROM entries')) return 'is ahead of the log';
  const { rows: written } = new Tallies(db).read('search') ?? { rows: place === 0 ? 0 : undefined };
  if (written === undefined) return 'was never counted';
  if (place === 0 && written > 0) return 'does not know its place in the log';
  const there = number(db, 'SELECT count(*) FROM search_docsize');
  if (there !== written) return `has ${there} messages, ${written} were written`;
  const inBlocks = number(db, 'SELECT coalesce(sum(messages), 0) FROM searched_blocks');
  return inBlocks === written ? undefined : `has ${inBlocks} messages in blocks, ${written} were written`;
}

function missedProblem(db: DatabaseSync, all: boolean): string | undefined {
  const place = followerPosition(db) ?? 0;
  const words = all ? new AskedWords() : undefined;
  const find = db.prepare('SELECT 1 FROM search WHERE search MATCH ? AND rowid = ?');
  try {
    for (const sample of samples(db, place, all ? MANY : FEW)) {
      if (!isSound(sample)) continue;
      const { id, space, pos } = sample;
      if (space === null) return 'does not know a workspace';
      const { body } = readEntry(sample.json);
      // Nothing is found by no words.
      if (body === '') continue;
      const asked = words?.takeApart(beginningOf(body)).words ?? [];
      const terms = [mark.workspace(space), mark.thread(id), mark.audience(id), ...asked];
      const row = rowsOf(space).first + BigInt(pos);
      if (!terms.every((term) => find.get(quoted(term), row) !== undefined))
        return `lacks the message at position ${pos}`;
    }
    return undefined;
  } finally {
    words?.close();
  }
}

/** The first words of a text; the last of them may be cut off, and is then no word of it. */
function beginningOf(body: string): string {
  return body.length <= LOOKED_AT ? body : body.slice(0, LOOKED_AT).replace(/[^\s]*$/, '');
}

/** Messages from all over the part of the log that is indexed. */
function* samples(db: DatabaseSync, place: number, count: number): Generator<Sample> {
  const select = db.prepare<Sample>(
    `SELECT ${THREAD_COLUMNS}, e.pos, e.hash AS entry_hash, e.json, w.id AS space,
     (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before
     FROM entries e JOIN threads t ON t.id = e.thread LEFT JOIN heads h ON h.thread = t.id
     LEFT JOIN searched_workspaces w ON w.workspace_id = t.workspace_id
     WHERE e.pos >= ? AND e.pos <= ? AND e.seq > 0 ORDER BY e.pos LIMIT 1`,
  );
  const step = Math.max(1, place / count);
  for (let at = place; at > 0; at -= step) {
    const from = Math.ceil(at);
    const sample = select.get(from, Math.min(place, from + 100));
    if (sample !== undefined) yield sample;
  }
}

/** A damaged message was left out of the index. */
function isSound(sample: Sample): boolean {
  try {
    readThread(sample);
    return link(sample.before ?? CHAIN_START, sample.json) === sample.entry_hash;
  } catch {
    return false;
  }
}
