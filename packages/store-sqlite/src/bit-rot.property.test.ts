import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Command, journalId } from '@parley/core';
import { assert, nat, property } from 'fast-check';
import { expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { openReader, openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { Reader } from './reader.ts';
import { sampleSide, sampleThread } from './sample-commands.ts';
import {
  openSample,
  removeFolder,
  SAMPLE_SIDES,
  SAMPLE_THREADS,
  type SampleRecord,
  sampleFolder,
  writeSampleRecord,
} from './sample-record.ts';
import { Batches } from './batches.ts';
import { WordSearch } from './word-search.ts';

const REFUSED = 'refused';

test('[C-DUR-08] [R11] whichever bit of the database flips, nothing false is served and the doctor names what is wrong', () => {
  const record = writeSampleRecord(60);
  record.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  record.db.close();
  const bytes = readFileSync(join(record.folder, DATABASE_FILE));
  const truth = askAll(record, bytes).answers;
  expect(Object.values(truth)).not.toContain(REFUSED);
  assert(
    property(nat(bytes.length * 8 - 1), (bit) => {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      const { answers, healthy, warnings } = askAll(record, flipped);
      const differing = Object.keys(truth).filter((question) => answers[question] !== truth[question]);
      // A row whose key is damaged cannot be found by it: then the start has named it.
      if (warnings.length === 0)
        expect(differing.filter((question) => answers[question] !== REFUSED)).toEqual([]);
      if (differing.length > 0) expect(healthy).toBe(false);
    }),
    // A letter of an index's name that becomes a capital: SQLite finds it all the same.
    { numRuns: 80, examples: [[(bytes.indexOf('indexheads_by_recency') + 'index'.length) * 8 + 5]] },
  );
  removeFolder(record.folder);
}, 120_000);

/** Every answer the store can give on these bytes, each alone; what the doctor said before, and the start. */
function askAll(
  record: SampleRecord,
  bytes: Buffer,
): { answers: Record<string, string>; healthy: boolean; warnings: string[] } {
  const folder = sampleFolder();
  cpSync(record.folder, folder, { recursive: true });
  writeFileSync(join(folder, DATABASE_FILE), bytes);
  try {
    const healthy = checkRecord(folder).ok;
    const warnings: string[] = [];
    const answers = { ...read(folder, record.quoted, warnings), ...retry(folder, record.retries) };
    return { answers, healthy, warnings };
  } finally {
    removeFolder(folder);
  }
}

function read(folder: string, quoted: string, warnings: string[]): Record<string, string> {
  const workspace_id = 'w';
  const threads = [
    ...Array.from({ length: SAMPLE_THREADS }, (_, i) => sampleThread(i)),
    ...Array.from({ length: SAMPLE_SIDES }, (_, i) => sampleSide(i)),
    journalId(workspace_id, 'alice'),
  ];
  const whole = { workspace_id, after: 0, limit: 1_000, max_bytes: 1e9 };
  const list = {
    workspace_id,
    reader: 'bob',
    status: undefined,
    unread: false,
    limit: 50,
    max_bytes: 1_000_000,
    before: undefined,
  };
  const page = { workspace_id, after: 0, limit: 200, max_bytes: 1_000_000 };
  const questions: Record<string, (reader: Reader, words: WordSearch) => unknown> = {
    ...Object.fromEntries(
      threads.flatMap((thread_id) => [
        [`page ${thread_id}`, (reader: Reader) => reader.page({ ...page, thread_id })],
        [`cursors ${thread_id}`, (reader: Reader) => reader.cursors(thread_id)],
      ]),
    ),
    'own threads': (reader) => reader.threads({ ...list, participant: 'bob' }),
    'all threads': (reader) => reader.threads({ ...list, participant: undefined }),
    'unread threads': (reader) => reader.threads({ ...list, participant: undefined, unread: true }),
    'the log of all': (reader) => reader.workspace({ ...whole, participant: undefined }),
    'the log of carol': (reader) => reader.workspace({ ...whole, participant: 'carol' }),
    position: (reader) => reader.position(workspace_id),
    agents: (reader) => reader.records({ kind: 'agent', workspace_id, limit: 100 }),
    asks: (reader) => reader.records({ kind: 'ask', workspace_id, limit: 100 }),
    'open asks': (reader) =>
      reader.records({ kind: 'ask', workspace_id: undefined, marks: ['open'], limit: 9 }),
    sessions: (reader) => reader.records({ kind: 'session', workspace_id, limit: 100 }),
    replies: (reader) => reader.references(threads[0]!, quoted),
    ...Object.fromEntries(
      ['quoted', '17'].map((text) => [
        `search ${text}`,
        (_reader: Reader, words: WordSearch) =>
          words.search({ workspace_id, participant: undefined, thread_id: undefined, text, limit: 10 }),
      ]),
    ),
  };
  const answers = Object.fromEntries(Object.keys(questions).map((question) => [question, REFUSED]));
  // The hub's own start: what it refuses to open, nobody is served from.
  attempt(() => {
    const writer = openWriter(join(folder, DATABASE_FILE), ({ text }) => warnings.push(text));
    const db = openReader(join(folder, DATABASE_FILE));
    try {
      const reader = new Reader(db);
      const words = new WordSearch(db);
      for (const [question, ask] of Object.entries(questions))
        attempt(() => (answers[question] = JSON.stringify(ask(reader, words))));
    } finally {
      db.close();
      writer.close();
    }
  });
  return answers;
}

function retry(folder: string, commands: readonly Command[]): Record<string, string> {
  const answers = Object.fromEntries(commands.map((_, i) => [`retry ${i}`, REFUSED]));
  attempt(() => {
    const db = openSample(folder);
    try {
      const writer = new Batches(db);
      for (const [i, command] of commands.entries()) {
        const [reply] = writer.run([command]);
        if (reply?.ok !== undefined) answers[`retry ${i}`] = JSON.stringify(reply.ok);
      }
    } finally {
      db.close();
    }
  });
  return answers;
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The answer stays refused.
  }
}
