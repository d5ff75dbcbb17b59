export { type FileLock, isFileLocked, lockFile } from './lock-file.ts';
export {
  type DatabaseSync,
  isPassing,
  oneRow,
  rowsOf,
  SQLITE_BUSY,
  SQLITE_CORRUPT,
  SQLITE_FULL,
  SQLITE_IOERR,
  SQLITE_NOTADB,
  SQLITE_PROTOCOL,
  sqliteCode,
  sqliteModule,
  sqliteVersion,
  type StatementSync,
} from './sqlite.ts';
