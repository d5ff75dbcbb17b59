export { type FileLock, isFileLocked, lockFile } from './lock-file.ts';
export {
  type DatabaseSync,
  SQLITE_BUSY,
  SQLITE_FULL,
  SQLITE_PROTOCOL,
  sqliteCode,
  sqliteModule,
  sqliteVersion,
  type StatementSync,
} from './sqlite.ts';
