import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import type { OpeningNews } from './news.ts';
import { openReader, openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { Reader } from './reader.ts';
import { repairRecord } from './repair-record.ts';
import { sampleThread } from './sample-commands.ts';
import { derivedRows, tamper, WIPE } from './sample-damage.ts';
import { removeFolder, sampleFolder, writeSampleRecord } from './sample-record.ts';
import { SearchIndex } from './search-index.ts';
import type { DatabaseSync } from './sqlite.ts';
import { Tallies } from './tallies.ts';
import { WordSearch } from './word-search.ts';

const sound = writeSampleRecord(60);
const folders: string[] = [sound.folder];
afterAll(() => folders.forEach(removeFolder));
let live: Record<string, unknown[]>;
let truth: unknown;

beforeAll(() => {
  truth = search(sound.db);
  sound.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  sound.db.close();
  live = derivedRows(sound.folder);
});

function search(db: DatabaseSync): unknown {
  const query = { workspace_id: 'w', participant: 'bob', thread_id: undefined, text: 'word 17', limit: 9 };
  return new WordSearch(db).search(query);
}

function damagedCopy(change: Parameters<typeof tamper>[1]): string {
  const folder = sampleFolder();
  folders.push(folder);
  cpSync(sound.folder, folder, { recursive: true });
  tamper(folder, change);
  return folder;
}

/** Opens a record as a start does, and lets the writer catch up. */
function start(folder: string): { news: OpeningNews[]; found: unknown } {
  const news: OpeningNews[] = [];
  const db = openWriter(join(folder, DATABASE_FILE), (one) => news.push(one));
  const index = new SearchIndex(db, new Tallies(db));
  while (index.step().more);
  const found = search(db);
  db.close();
  return { news, found };
}

const CHANGES: [part: string, what: string, change: string][] = [
  ['threads', 'no heads', 'DELETE FROM heads'],
  ['threads', 'a head that was set back', 'UPDATE heads SET last_seq = last_seq - 1 WHERE thread = 1'],
  ['threads', 'no table of heads', 'DROP TABLE heads'],
  ['threads', 'no participants', 'DELETE FROM participants'],
  ['threads', 'another participant', "UPDATE participants SET agent_id = 'eve' WHERE agent_id = 'bob'"],
  ['threads', 'a participant of no thread', "INSERT INTO participants VALUES ('w', 'eve', 999)"],
  ['threads', 'no threads', 'DELETE FROM threads'],
  ['threads', 'an altered state', `UPDATE threads SET state = replace(state, 'renamed', 'forged')`],
  ['threads', 'a thread of another workspace', "UPDATE threads SET workspace_id = 'x' WHERE id = 2"],
  ['records', 'no asks', "DELETE FROM records WHERE kind = 'ask'"],
  [
    'records',
    'an altered ask',
    `UPDATE records SET json = replace(json, 'approved', 'denied') WHERE kind = 'ask'`,
  ],
  ['records', 'no positions of the workspaces', 'DELETE FROM runs'],
  ['records', 'no table of them', 'DROP TABLE runs'],
  ['records', 'a workspace that was set back', 'UPDATE runs SET place = place - 1'],
  ['records', 'a run of another workspace', "UPDATE runs SET workspace_id = 'x'"],
  ['records', 'no counts', 'DELETE FROM tallies'],
  ['index', 'an empty index', "INSERT INTO search (search) VALUES ('delete-all')"],
  ['index', 'no index', 'DROP TABLE search'],
  ['index', 'an index without its words', 'DELETE FROM search_data WHERE id > 10'],
  ['index', 'an index without its structure', "UPDATE search_data SET block = x'00' WHERE id = 10"],
  ['index', 'an index without its settings', 'DROP TABLE search_config'],
  [
    'index',
    'an index without one message',
    'DELETE FROM search_docsize WHERE id = (SELECT max(id) FROM search_docsize)',
  ],
  ['index', 'an index without its blocks', 'DELETE FROM searched_blocks'],
  ['threads', 'entries that are counted for nobody', 'DELETE FROM entries_by_sender WHERE seq > 1'],
  ['threads', 'a count that ends too early', 'UPDATE entries_by_sender SET last = last - 1 WHERE last > seq'],
  ['threads', 'a count that is another', 'UPDATE entries_by_sender SET nth = nth + 1 WHERE seq < 2'],
  ['threads', 'threads that are in no list', 'UPDATE heads SET listed_in = NULL'],
  ['index', 'an index that takes itself for new', "DELETE FROM followers WHERE name = 'search'"],
];

describe('what follows from the log and was changed while nobody looked', () => {
  test.each(CHANGES)(
    '%s: %s: the doctor names it, the next start makes it anew and says so',
    (part, what, change) => {
      const folder = damagedCopy(change);
      const before = checkRecord(folder);
      // Counts that are gone hide nothing that the doctor does not compare with the log itself.
      if (what !== 'no counts') expect(before.ok).toBe(false);
      expect(before.ok).toBe(before.problems.length === 0);
      const { news, found } = start(folder);
      const reported = news.filter(({ kind }) => kind === 'rebuilt');
      if (what === 'no counts') expect(reported).toEqual([expect.objectContaining({ part: 'index' })]);
      else expect(reported).toContainEqual(expect.objectContaining({ part }));
      expect(derivedRows(folder)).toEqual(live);
      expect(found).toEqual(truth);
      expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
      expect(start(folder).news).toEqual([]);
    },
  );

  test('a start on a sound record changes nothing and says nothing', () => {
    expect(start(damagedCopy('SELECT 1'))).toEqual({ news: [], found: truth });
  });

  test('an index of a table and a trigger that are gone are there again', () => {
    const folder = damagedCopy('DROP INDEX records_by_mark; DROP TRIGGER entries_never_go');
    expect(start(folder).news.map(({ text }) => text)).toEqual([
      'entries_never_go was gone from the database',
      'records_by_mark was gone from the database',
    ]);
    expect(() => tamper(folder, 'DELETE FROM entries')).toThrow('append-only');
  });

  test('the doctor repairs everything at once, with what it does told', () => {
    const folder = damagedCopy((db) => {
      db.exec(WIPE);
      db.exec('DROP TRIGGER entries_never_change; UPDATE entries SET reply_to = NULL');
    });
    const news: OpeningNews[] = [];
    repairRecord(folder, (one) => news.push(one));
    expect(new Set(news.flatMap((one) => (one.kind === 'rebuilt' ? [one.part] : [])))).toEqual(
      new Set(['threads', 'records', 'index']),
    );
    expect(derivedRows(folder)).toEqual(live);
    expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
    expect(start(folder)).toEqual({ news: [], found: truth });
  });
});

describe('what follows from nothing else', () => {
  test('cursors and sessions that are gone are missed by name, until a repair has told of them once more', () => {
    const folder = damagedCopy("DELETE FROM cursors; DELETE FROM records WHERE kind = 'session'");
    const missed = [
      'the records of kind session: 0 are there, 2 were written',
      'the cursors: 0 are there, 6 were written',
    ];
    expect(checkRecord(folder)).toMatchObject({ ok: false, problems: missed });
    for (let i = 0; i < 2; i++)
      expect(start(folder).news).toEqual(missed.map((text) => ({ kind: 'fault', text })));
    const news: OpeningNews[] = [];
    repairRecord(folder, (one) => news.push(one));
    expect(news).toEqual(missed.map((text) => ({ kind: 'fault', text })));
    expect(start(folder).news).toEqual([]);
    expect(checkRecord(folder)).toMatchObject({ ok: true });
  });

  test('a thread whose log is damaged is not made up, and not said to be nowhere', () => {
    const folder = damagedCopy((db) => {
      db.exec(
        'DROP TRIGGER entries_never_change; DELETE FROM threads WHERE id = 1; DELETE FROM heads WHERE thread = 1',
      );
      db.exec(`UPDATE entries SET json = replace(json, 'quoted', 'forged') WHERE thread = 1 AND seq = 1`);
    });
    expect(start(folder).news).toContainEqual({
      kind: 'fault',
      text: expect.stringContaining('the chain breaks at seq 1') as string,
    });
    expect(checkRecord(folder)).toMatchObject({ ok: false, chain: 'broken' });
    const db = openReader(join(folder, DATABASE_FILE));
    const page = { workspace_id: 'w', after: 0, limit: 9, max_bytes: 1e6 };
    expect(() => new Reader(db).page({ ...page, thread_id: sampleThread(0) })).toThrow('is damaged');
    expect(new Reader(db).page({ ...page, thread_id: sampleThread(1) }).entries).not.toEqual([]);
    db.close();
  });

  test('a head that knows more than the log is not set back to what is left', () => {
    const folder = damagedCopy((db) => {
      db.exec('DROP TRIGGER entries_never_go');
      db.exec(
        'DELETE FROM entries WHERE thread = 2 AND seq = (SELECT max(seq) FROM entries WHERE thread = 2)',
      );
    });
    const heads = derivedRows(folder)['heads'];
    expect(start(folder).news).toContainEqual({
      kind: 'fault',
      text: expect.stringMatching(/the log ends at seq \d+, the thread was at \d+/) as string,
    });
    expect(derivedRows(folder)['heads']).toEqual(heads);
    expect(checkRecord(folder)).toMatchObject({ ok: false, chain: 'broken' });
  });
});
