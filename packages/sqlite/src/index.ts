export { type FileLock, isFileLocked, lockFile } from './lock-file.ts';
export {
  type DatabaseSync,
  isPassing,
  SQLITE_BUSY,
  SQLITE_FULL,
  SQLITE_IOERR,
  SQLITE_PROTOCOL,
  sqliteCode,
  sqliteModule,
  sqliteVersion,
  type StatementSync,
} from './sqlite.ts';
