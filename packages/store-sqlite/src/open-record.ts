import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { isFolderLocked } from './lock-folder.ts';
import { number } from './number.ts';
import { BUSY_MS } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { type DatabaseSync, sqliteCode, SQLITE_IOERR, sqliteModule } from './sqlite.ts';

/** Opens the record of a folder from outside the hub, to look and to copy; a full disk does not keep anybody from it. */
export function openRecord(folder: string): DatabaseSync {
  const path = join(folder, DATABASE_FILE);
  try {
    return open(path);
  } catch (error) {
    const { size } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? { size: 0 };
    // There may be no room for what connections share. After a clean stop the one file is all there is.
    if (sqliteCode(error) !== SQLITE_IOERR || size > 0 || isFolderLocked(folder)) throw error;
    return open(`${pathToFileURL(path).href}?immutable=1`);
  }
}

function open(name: string): DatabaseSync {
  const db = new (sqliteModule().DatabaseSync)(name, { readOnly: true, timeout: BUSY_MS });
  try {
    db.exec('PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192');
    number(db, 'SELECT count(*) FROM sqlite_schema');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
