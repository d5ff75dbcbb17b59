import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';
import { checkIndex, dropIndex, INDEX_FILES } from '@parley/search';
import { DATABASE_FILE, isFolderLocked, lockFolder, repairRecord } from '@parley/store-sqlite';

import type { Config } from '../../../config/schema.ts';
import type { Check } from './check.ts';

/** What a repair has done. */
export interface Repair {
  /** What was made anew from the log. */
  rebuilt: string[];
  /** How it went, as the doctor tells it. */
  check: Check;
}

/** Makes anew from the log all that follows from it; nobody may write meanwhile. */
export function repair({ data, store }: Config, tell: (text: string) => void): Repair {
  const name = 'repair';
  if (store !== '')
    throw new ParleyError(
      'VALIDATION_ERROR',
      '--repair makes anew what stands in a folder; move a database into one with parley migrate, and back',
    );
  if (!existsSync(join(data, DATABASE_FILE)))
    return { rebuilt: [], check: { name, ok: true, detail: 'there is nothing to repair yet' } };
  if (isFolderLocked(data))
    throw new ParleyError('CONFLICT', `a hub is running on ${data}: stop it, then repair`);
  const lock = lockFolder(data);
  const rebuilt: string[] = [];
  const lost: string[] = [];
  try {
    repairRecord(data, (news) => {
      tell(news.text);
      if (news.kind === 'rebuilt') rebuilt.push(news.text);
      if (news.kind === 'fault') lost.push(news.text);
    });
    for (const [kind, file] of Object.entries(INDEX_FILES)) {
      const problem = checkIndex(join(data, file));
      if (problem === undefined) continue;
      dropIndex(join(data, file));
      rebuilt.push(`the search index of ${kind} is made anew by the next start (${problem})`);
    }
  } catch (error) {
    lost.push(error instanceof Error ? error.message : String(error));
  } finally {
    lock.release();
  }
  const done = rebuilt.length === 0 ? 'nothing had to be made anew' : rebuilt.join('; ');
  const [first] = lost;
  return {
    rebuilt,
    check: {
      name,
      ok: first === undefined,
      detail: first === undefined ? done : `what follows from nothing else stays lost: ${lost.join('; ')}`,
    },
  };
}
