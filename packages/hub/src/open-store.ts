import type { StateFiles, Store } from '@parley/core';
import { ParleyError } from '@parley/protocol';
import { openSqliteStore, readMove } from '@parley/store-sqlite';

import type { Config } from './config/schema.ts';
import { acknowledgedNote } from './state-files/acknowledged-note.ts';
import { folderFiles } from './state-files/folder-files.ts';
import type { Logger } from './logger.ts';

/** Opens the store that the configuration names: the data folder's own, or PostgreSQL, which is loaded only then; with the time that all who share it go by. */
export async function openStore(
  config: Config,
  logger: Logger,
): Promise<{ store: Store; stateFiles: StateFiles; now: () => number }> {
  const onFault = (message: string): void => logger.error({ fault: message }, 'storage fault');
  const onRecovery = (): void => logger.warn({}, 'writes are taken again');
  if (config.store !== '') {
    const { openPostgres } = await import('@parley/store-postgres');
    return openPostgres({
      url: config.store,
      onFault,
      onNotice: (message) => logger.warn({}, message),
      onRecovery,
      note: acknowledgedNote(config.data, onFault),
    });
  }
  refuseHalf(readMove(config.data));
  const store = await openSqliteStore({
    folder: config.data,
    maxBatch: config.limits.batch,
    maxQueue: config.limits.queue,
    onFault,
    onRecovery,
    onNews: ({ kind, text }) =>
      kind === 'rebuilt' ? logger.warn({ rebuilt: text }, 'rebuilt from the log') : logger.info({}, text),
  });
  return { store, stateFiles: folderFiles(config.data), now: () => Date.now() };
}

/** A record that is not whole yet serves nobody. */
function refuseHalf(from: string | undefined): void {
  if (from !== undefined)
    throw new ParleyError(
      'UNAVAILABLE',
      `the move of the record from ${from} is not complete: run parley migrate again`,
    );
}
