import { join } from 'node:path';

import type { SearchResult, Store, StoreHealth } from '@parley/core';

import type { DerivedPart, OpeningNews } from './news.ts';
import { isIndexDamage } from './row-sum.ts';
import { ThreadPort } from './thread-port.ts';
import { REMAKE_INDEX } from './thread-protocol.ts';

export const DATABASE_FILE = 'parley.db';

export interface SqliteOptions {
  folder: string;
  idempotencyWindowMs: number;
  maxBatch?: number;
  maxQueue?: number;
  /** Hears of every storage fault once, for the operator's log. */
  onFault: (message: string) => void;
  /** Hears what is made anew from the log while the store opens, and how far that has come. */
  onNews?: (news: Exclude<OpeningNews, { kind: 'fault' }>) => void;
}

/** The embedded store: one writer thread that commits in groups, one reader thread, one that searches, no disk wait on the event loop. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { folder, idempotencyWindowMs, maxBatch = 512, maxQueue = 4_096 } = options;
  const path = join(folder, DATABASE_FILE);
  let health: StoreHealth = { writable: true };
  let told: string | undefined;
  const onFault = (message: string, fatal: boolean): void => {
    if (fatal) health = { writable: false, reason: message };
    if (told !== message) options.onFault(message);
    told = message;
  };
  const rebuilt = new Set<DerivedPart>();
  const onNews = (news: OpeningNews): void => {
    if (news.kind === 'fault') return onFault(news.text, false);
    if (news.kind === 'rebuilt') rebuilt.add(news.part);
    options.onNews?.(news);
  };
  const writer = await ThreadPort.open(
    { role: 'writer', path, idempotencyWindowMs, maxBatch },
    { maxQueue, maxPiece: maxBatch, onFault, onNews },
  );
  const reader = await ThreadPort.open(
    { role: 'reader', path, idempotencyWindowMs, maxBatch },
    { maxQueue, maxPiece: maxBatch, onFault: (message) => onFault(message, false) },
  );
  const remakeIndex = async (): Promise<void> => {
    rebuilt.add('index');
    await writer.call(REMAKE_INDEX);
  };
  const searcher = openSearcher(path, (message) => onFault(message, false));
  return {
    transact: (command) => writer.call(command),
    page: (query) => reader.call(['page', query]),
    tail: (query) => reader.call(['tail', query]),
    cursors: (threadId) => reader.call(['cursors', threadId]),
    references: (threadId, messageId) => reader.call(['references', threadId, messageId]),
    threads: (query) => reader.call(['threads', query]),
    records: (query) => reader.call(['records', query]),
    workspace: (query) => reader.call(['workspace', query]),
    position: () => reader.call(['position']),
    async search(query) {
      try {
        return await searcher.call<SearchResult>(['search', query]);
      } catch (error) {
        if (isIndexDamage(error)) await remakeIndex();
        throw error;
      }
    },
    readable: (query) => searcher.call(['readable', query]),
    health: () => ({ ...health, waiting: writer.waiting, rebuilt: [...rebuilt] }),
    async close() {
      await searcher.close();
      // The writer goes last: the last connection folds the WAL into the one file, and a reader cannot.
      await reader.close();
      await writer.close();
    },
  };
}

/** How many searches may wait: each takes some milliseconds. */
const MAX_SEARCHES = 64;

/** The thread that searches begins with the first search, and again should it ever end: nobody else waits for it. */
function openSearcher(path: string, onFault: (message: string) => void) {
  let port: ThreadPort | undefined;
  let opening: Promise<ThreadPort> | undefined;
  const opened = (): Promise<ThreadPort> => {
    if (port?.isGone === true) port = opening = undefined;
    opening ??= ThreadPort.open(
      { role: 'searcher', path, idempotencyWindowMs: 0, maxBatch: 1 },
      { maxQueue: MAX_SEARCHES, maxPiece: 1, overload: 'too many searches are waiting; retry', onFault },
    ).then(
      (one) => (port = one),
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  return {
    call: async <T>(question: unknown): Promise<T> => (await opened()).call<T>(question),
    async close(): Promise<void> {
      await opening?.catch(() => {});
      await port?.close();
    },
  };
}
