import { join } from 'node:path';

import type { Committed, Store } from '@parley/core';
import { ParleyError } from '@parley/protocol';

import { Batches } from './batches.ts';
import { openReader, openWriter } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { Reader } from './reader.ts';
import { ADVANCE_INDEX, type WriterCall } from './thread-protocol.ts';
import { WordSearch } from './word-search.ts';

/** The store without its threads: the same writer and readers, called where the test stands, so that it starts at once. */
export function openInProcess(folder: string): Store {
  const path = join(folder, DATABASE_FILE);
  const batches = new Batches(openWriter(path, () => {}));
  const db = openReader(path);
  const reader = new Reader(db);
  const words = new WordSearch(db);
  const write = (call: WriterCall): unknown => {
    const [{ ok, error } = {}] = batches.run([call]);
    if (error !== undefined) throw new ParleyError(error.code, error.message, error.details);
    return ok;
  };
  return {
    transact: async (command) => write(command) as Committed<never>,
    page: async (query) => reader.page(query),
    tail: async (query) => reader.tail(query),
    cursors: async (thread) => reader.cursors(thread),
    reading: async (thread, of) => reader.reading(thread, of),
    references: async (thread, message) => reader.references(thread, message),
    threads: async (query) => reader.threads(query),
    countThreads: async (query) => reader.countThreads(query),
    agents: async (query) => reader.agents(query),
    records: async (query) => reader.records(query),
    workspace: async (query) => reader.workspace(query),
    position: async (workspace) => reader.position(workspace),
    heads: async (query) => reader.heads(query),
    size: async () => reader.size(),
    placeOf: async (workspace, cursor) => reader.placeOf(workspace, cursor),
    async search(query) {
      write(ADVANCE_INDEX);
      // On a busy machine one slice is not all.
      while (batches.idle() === 1);
      return words.search(query, words.place().head);
    },
    readable: async (query) => words.readable(query),
    searchLag: async (workspace) => reader.searchLag(workspace),
    forgetKeys: (before) => batches.forgetKeys(before),
    health: () => ({ writable: true }),
    async close() {
      db.close();
      batches.close();
    },
  };
}
