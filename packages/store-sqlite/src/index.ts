export { checkRecord, type RecordReport } from './check-record.ts';
export { exportRecord } from './export-record.ts';
export { backupRecord } from './backup-record.ts';
export { type FileLock, lockFile } from '@parley/sqlite';
export { isFolderLocked, lockFolder } from './lock-folder.ts';
export { DATABASE_FILE, openSqliteStore, type SqliteOptions } from './open-store.ts';
export { sqliteVersion } from './sqlite.ts';
export { listKeptArtifacts } from './list-artifacts.ts';
export { readClock } from './read-clock.ts';
