import type { KeptFiles } from '@parley/core';

import type { Config } from '../config/schema.ts';
import { folderFiles } from './folder-files.ts';

/** Where a hub keeps what its nodes share. */
export type KeptPlace = Pick<Config, 'data'> & Partial<Pick<Config, 'store'>>;

/** Opens the kept files of a hub, whether it runs or not: in PostgreSQL where its record is there. */
async function openKept({ data, store = '' }: KeptPlace): Promise<KeptFiles> {
  if (store === '') return folderFiles(data);
  const { openPostgresFiles } = await import('@parley/store-postgres');
  return openPostgresFiles({ url: store });
}

/** Does something with the kept files of a hub and closes them. */
export async function withKept<T>(place: KeptPlace, run: (kept: KeptFiles) => Promise<T> | T): Promise<T> {
  const kept = await openKept(place);
  try {
    return await run(kept);
  } finally {
    await kept.close();
  }
}
