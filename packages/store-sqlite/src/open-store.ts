import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { SearchResult, Store, StoreHealth } from '@parley/core';

import type { DerivedPart, OpeningNews } from './news.ts';
import { isIndexDamage } from '@parley/store-rows';
import { ThreadPort } from './thread-port.ts';
import { ADVANCE_INDEX, REMAKE_INDEX, type Severity } from './thread-protocol.ts';
import type { WordSearch } from './word-search.ts';

export const DATABASE_FILE = 'parley.db';

/** How much a question waits for the index: so many slices of upkeep, and so long. */
const FRESH_SLICES = 4;
const FRESH_MS = 1_000;

/** So long the commands of one commit may take: then they are made durable, and whoever came meanwhile has a turn. */
const BATCH_MS = 25;

export interface SqliteOptions {
  folder: string;
  maxBatch?: number;
  maxQueue?: number;
  /** Hears of every storage fault once, for the operator's log. */
  onFault: (message: string) => void;
  /** Writes are taken again after a fault that has passed. */
  onRecovery?: () => void;
  /** Hears what is made anew from the log while the store opens, and how far that has come. */
  onNews?: (news: Exclude<OpeningNews, { kind: 'fault' }>) => void;
}

/** The embedded store: one writer thread that commits in groups, one reader thread, one that searches, no disk wait on the event loop. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { folder, maxBatch = 512, maxQueue = 4_096 } = options;
  const path = join(folder, DATABASE_FILE);
  let health: StoreHealth = { writable: true };
  let isOver = false;
  let reported: string | undefined;
  const onFault = (message: string, severity?: Severity): void => {
    isOver ||= severity === 'fatal';
    if (severity !== undefined) health = { writable: false, reason: message };
    if (reported !== message) options.onFault(message);
    reported = message;
  };
  const onRecovery = (): void => {
    if (isOver) return;
    health = { writable: true };
    reported = undefined;
    options.onRecovery?.();
  };
  const rebuilt = new Set<DerivedPart>();
  const onNews = (news: OpeningNews): void => {
    if (news.kind === 'fault') return onFault(news.text);
    if (news.kind === 'rebuilt') rebuilt.add(news.part);
    options.onNews?.(news);
  };
  const limits = { maxQueue, maxPiece: maxBatch, onRecovery };
  const writer = await ThreadPort.open(
    { role: 'writer', path, maxBatch, batchMs: BATCH_MS },
    { ...limits, onFault, onNews },
  );
  const reader = await ThreadPort.open(
    { role: 'reader', path, maxBatch, batchMs: BATCH_MS },
    { ...limits, onFault: (message) => onFault(message) },
  );
  const remakeIndex = async (): Promise<void> => {
    rebuilt.add('index');
    await writer.call(REMAKE_INDEX);
  };
  const searcher = openSearcher(path, (message) => onFault(message));
  /**
   * What was acknowledged before the question is found by it, as far as a few slices go and the disk is at hand; says how
   * far the log had come then.
   */
  const bringUp = async (): Promise<number> => {
    const { head, isIndexed } = await searcher.call<ReturnType<WordSearch['place']>>(['place']);
    if (isIndexed) return head;
    const late = sleep(FRESH_MS, true, { ref: false });
    for (let slice = 0; slice < FRESH_SLICES && health.writable; slice++) {
      const done = writer.call(ADVANCE_INDEX).then(() => searcher.call<boolean>(['isIndexed', head]));
      if (await Promise.race([done.catch(() => true), late])) break;
    }
    return head;
  };
  return {
    transact: (command) => writer.call(command),
    page: (query) => reader.call(['page', query]),
    tail: (query) => reader.call(['tail', query]),
    cursors: (threadId) => reader.call(['cursors', threadId]),
    reading: (threadId, of) => reader.call(['reading', threadId, of]),
    references: (threadId, messageId) => reader.call(['references', threadId, messageId]),
    threads: (query) => reader.call(['threads', query]),
    countThreads: (query) => reader.call(['countThreads', query]),
    agents: (query) => reader.call(['agents', query]),
    records: (query) => reader.call(['records', query]),
    workspace: (query) => reader.call(['workspace', query]),
    position: (workspaceId) => reader.call(['position', workspaceId]),
    heads: (query) => reader.call(['heads', query]),
    size: () => reader.call(['size']),
    placeOf: (workspaceId, cursor) => reader.call(['placeOf', workspaceId, cursor]),
    async search(query) {
      try {
        return await searcher.call<SearchResult>(['search', query, await bringUp()]);
      } catch (error) {
        if (isIndexDamage(error)) await remakeIndex();
        throw error;
      }
    },
    readable: (query) => searcher.call(['readable', query]),
    searchLag: (workspaceId) =>
      reader.call(workspaceId === undefined ? ['searchLag'] : ['searchLag', workspaceId]),
    forgetKeys: (before) => writer.say({ forget_before: before }),
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
      { role: 'searcher', path, maxBatch: 1, batchMs: BATCH_MS },
      {
        maxQueue: MAX_SEARCHES,
        maxPiece: 1,
        overload: 'too many searches are waiting; retry',
        onFault,
        onRecovery: () => {},
      },
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
