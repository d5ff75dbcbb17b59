import type { StateFiles } from '@parley/core';

import type { Config } from '../config/schema.ts';
import { folderFiles } from './folder-files.ts';

/** Where a hub keeps what its nodes share. */
export type StateFilesPlace = Pick<Config, 'data'> & Partial<Pick<Config, 'store'>>;

/** Opens the state files of a hub, whether it runs or not: in PostgreSQL where its record is there. */
async function openStateFiles({ data, store = '' }: StateFilesPlace): Promise<StateFiles> {
  if (store === '') return folderFiles(data);
  const { openPostgresFiles } = await import('@parley/store-postgres');
  return openPostgresFiles({ url: store });
}

/** Does something with the state files of a hub and closes them. */
export async function withStateFiles<T>(
  place: StateFilesPlace,
  run: (stateFiles: StateFiles) => Promise<T> | T,
): Promise<T> {
  const stateFiles = await openStateFiles(place);
  try {
    return await run(stateFiles);
  } finally {
    await stateFiles.close();
  }
}
