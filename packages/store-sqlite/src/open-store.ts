import { join } from 'node:path';

import type { Store, StoreHealth } from '@parley/core';

import { ThreadPort } from './thread-port.ts';
import type { Severity } from './thread-protocol.ts';

export const DATABASE_FILE = 'parley.db';

export interface SqliteOptions {
  folder: string;
  maxBatch?: number;
  maxQueue?: number;
  /** Hears of every storage fault once, for the operator's log. */
  onFault: (message: string) => void;
  /** Writes are taken again after a fault that has passed. */
  onRecovery?: () => void;
}

/** The embedded store: one writer thread that commits in groups, one reader thread, no disk wait on the event loop. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { folder, maxBatch = 512, maxQueue = 4_096 } = options;
  const path = join(folder, DATABASE_FILE);
  let health: StoreHealth = { writable: true };
  let isOver = false;
  let told: string | undefined;
  const onFault = (message: string, severity?: Severity): void => {
    isOver ||= severity === 'fatal';
    if (severity !== undefined) health = { writable: false, reason: message };
    if (told !== message) options.onFault(message);
    told = message;
  };
  const onRecovery = (): void => {
    if (isOver) return;
    health = { writable: true };
    told = undefined;
    options.onRecovery?.();
  };
  const limits = { maxQueue, maxPiece: maxBatch, onRecovery };
  const writer = await ThreadPort.open({ role: 'writer', path, maxBatch }, { ...limits, onFault });
  const reader = await ThreadPort.open(
    { role: 'reader', path, maxBatch },
    { ...limits, onFault: (message) => onFault(message) },
  );
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
    search: (query) => reader.call(['search', query]),
    readable: (query) => reader.call(['readable', query]),
    searchLag: () => reader.call(['searchLag']),
    forgetKeys: (before) => writer.say({ forget_before: before }),
    health: () => ({ ...health, waiting: writer.waiting }),
    async close() {
      // The writer goes last: the last connection folds the WAL into the one file, and a reader cannot.
      await reader.close();
      await writer.close();
    },
  };
}
